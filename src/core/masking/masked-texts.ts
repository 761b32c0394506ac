import { limits } from '../limits.ts';
import type { RememberedValues } from './remembered-values.ts';
import { createSearch, type SecretSpan, settledSpans, withoutSpans } from './secret-span.ts';
import type { TextSecrets } from './text-secrets.ts';

/** Text without its secrets, and the names of the rules that found them. */
export interface MaskedText {
  readonly text: string;
  readonly rules: readonly string[];
}

/** A masked text, and which of the remembered values were looked for in it. */
interface KnownText extends MaskedText {
  readonly version: number;
}

/** Strings from this length on are remembered. */
const longText = 200;

/**
 * Masks strings, and remembers the masked form of long ones: every model call sends the whole conversation, which need
 * not be searched each time.
 */
export class MaskedTexts {
  readonly #secrets: TextSecrets;
  readonly #remembered: RememberedValues;
  readonly #mask: (rule: string, secret: string) => string;
  readonly #plain = new Map<string, KnownText>();
  readonly #checked = new Map<string, KnownText>();
  #length = 0;

  constructor(secrets: TextSecrets, remembered: RememberedValues, mask: (rule: string, secret: string) => string) {
    this.#secrets = secrets;
    this.#remembered = remembered;
    this.#mask = mask;
  }

  /** Masks a string; with `checksRandom`, random-looking text in it too. */
  masked(text: string, checksRandom: boolean): MaskedText {
    if (text.length < longText) return this.#without(text, this.#secrets.spansIn(text, checksRandom));
    const known = checksRandom ? this.#checked : this.#plain;
    const found = known.get(text);
    // The values that this text itself gives away are looked for in it the next time.
    const { version } = this.#remembered;
    if (found?.version === version) return found;
    const made =
      found === undefined ? this.#without(text, this.#secrets.spansIn(text, checksRandom)) : this.#again(found);
    if (found === undefined) this.#makeRoom(text.length);
    known.set(text, { ...made, version });
    return made;
  }

  /** Masks only the secrets with a recognizable form. */
  formed(text: string): MaskedText {
    return this.#without(text, this.#secrets.formsIn(text));
  }

  /** Looks again at a string that was masked before some value was remembered. */
  #again({ text, rules }: KnownText): MaskedText {
    const search = createSearch(text);
    this.#remembered.find(search);
    const again = this.#without(text, settledSpans(search));
    return { text: again.text, rules: [...new Set([...rules, ...again.rules])] };
  }

  #without(text: string, spans: readonly SecretSpan[]): MaskedText {
    if (spans.length === 0) return { text, rules: none };
    for (const { secret, rule, isRemembered } of spans) if (isRemembered !== false) this.#remembered.add(secret, rule);
    const masked = withoutSpans(text, spans, ({ rule, secret }) => this.#mask(rule, secret));
    return { text: masked, rules: [...new Set(spans.map(({ rule }) => rule))] };
  }

  #makeRoom(length: number): void {
    this.#length += length;
    if (this.#length <= limits.maskedTextsMax) return;
    this.#plain.clear();
    this.#checked.clear();
    this.#length = length;
  }
}

const none: readonly string[] = [];
