import type { EventDraft } from '../../core/event/event.ts';
import { isObject, type JsonObject, type JsonValue, stringAt } from '../../core/json.ts';
import type { Masker } from '../../core/masking/masking.ts';
import type { SecretFinder } from '../../core/masking/secret-finder.ts';
import type { UnitMeaning } from '../../core/recording/foreign-format.ts';
import { bytesOfText, textOfBytes } from '../../core/recording/kept-bytes.ts';
import type { RawUnit } from './source-units.ts';

const none = new Uint8Array();

/** How the secrets of a source are treated: masked, or only counted. */
export interface UnitMasking {
  /** Masks the events and the kept text; undefined if they are kept as they are. */
  readonly mask: Masker | undefined;
  /** Finds the rules that masking would apply; undefined if nothing is counted. */
  readonly finder: SecretFinder | undefined;
}

/** Masks or counts the secrets of the units of one source. */
export class UnitMasks {
  readonly #masking: UnitMasking;
  /** How many units, and texts around them, contain a secret, by rule. */
  readonly secrets: Record<string, number> = {};
  /** The ids of the texts around units that were counted. */
  readonly #counted = new Set<string>();
  /** The rules that masked something since {@link begin}. */
  #masked = new Set<string>();

  constructor(masking: UnitMasking) {
    this.#masking = masking;
  }

  /** Whether secrets are masked. */
  get isMasking(): boolean {
    return this.#masking.mask !== undefined;
  }

  /** Begins a unit, or a text around units. */
  begin(): void {
    this.#masked = new Set();
  }

  /** Masks an event, and notes the rules that did. */
  maskEvent(draft: EventDraft): EventDraft {
    const masked = this.#masking.mask?.(draft) ?? draft;
    const rules = masked === draft || !isObject(masked.data) ? undefined : masked.data['masked'];
    if (Array.isArray(rules)) for (const rule of rules) this.#masked.add(String(rule));
    return masked;
  }

  /** Returns a unit of bytes without its secrets, and the rules that found them: in base64, a mask would find none. */
  maskBytes(raw: RawUnit, { drafts }: UnitMeaning): RawUnit & { readonly masked?: JsonValue | undefined } {
    if (raw.bytes === undefined || this.#masking.mask === undefined) return raw;
    // A mask remembers the secrets that it finds by the names of fields.
    for (const draft of drafts) this.maskEvent(draft);
    const data: JsonObject = { text: textOfBytes(raw.bytes) };
    const found = this.maskEvent({ type: 'source.kept', data }).data as JsonObject;
    if (found === data) return raw;
    return { ...raw, bytes: bytesOfText(stringAt(found, 'text') ?? ''), masked: found['masked'] };
  }

  /** Counts a unit by the rules that find a secret in it, or that have masked one. */
  countUnit({ text, bytes = none, hint }: RawUnit): void {
    this.#count(text ?? (this.#masking.finder && textOfBytes(bytes)), hint?.mayHoldSecret);
  }

  /** Counts the secrets in the text around the elements of a file, once. */
  countAround({ id = '', data }: EventDraft): void {
    const [head, tail] = [stringAt(data as JsonObject, 'head'), stringAt(data as JsonObject, 'tail')];
    if (head === undefined || this.#counted.has(id)) return;
    this.#counted.add(id);
    this.#count(`${head}${tail ?? ''}`);
  }

  #count(text: string | undefined, mayHold?: boolean): void {
    const found = text === undefined ? [] : (this.#masking.finder?.rulesIn(text, mayHold) ?? []);
    for (const rule of new Set([...found, ...this.#masked])) this.secrets[rule] = (this.secrets[rule] ?? 0) + 1;
  }
}
