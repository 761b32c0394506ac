import type { EventDraft } from '../../core/event/event.ts';
import { isId } from '../../core/id.ts';
import { given, isObject, type JsonObject, numberAt, objectAt, stringAt } from '../../core/json.ts';
import type { Masker } from '../../core/masking/masking.ts';
import type { UnitMeaning } from '../../core/recording/foreign-format.ts';
import { keepText } from '../../core/recording/kept-text.ts';
import { costOf, type PriceTable } from '../../core/recording/prices.ts';
import { readTime } from '../../core/time.ts';
import type { Engine } from '../context/engine.ts';
import type { RawUnit } from './source-units.ts';

/** A unit on its way into the log. */
export interface PreparedUnit {
  readonly file: string;
  readonly at: number;
  /** The id of its first event; those of the others are made from it. */
  readonly id: string;
  readonly meaning: UnitMeaning;
  /** Events that belong after an earlier unit and come before this one. */
  readonly settled: readonly EventDraft[];
  readonly drafts: readonly EventDraft[];
  /** The event that keeps it if its meaning cannot be stored. */
  readonly fallback: (reason: string) => EventDraft;
  /** The length of its text, about. */
  readonly size: number;
}

/** The identity of a source. */
export interface SourceName {
  readonly format: string;
  /** The id of the session in its own system. */
  readonly source: string;
}

/** Calls that have started and whose ends name them as their cause; the oldest one goes first. */
const openCallsMax = 10_000;

/** Turns units and their meanings into events with ids, prices, causes, and the text they were read from. */
export class UnitEvents {
  readonly #engine: Engine;
  readonly #name: SourceName;
  readonly #prices: PriceTable;
  readonly #mask: Masker | undefined;
  readonly #keepsMasked: boolean;
  readonly #calls = new Map<string, string>();
  /** The id of the last unit of each file: the id of a unit stands for it and everything before it. */
  readonly #chains = new Map<string, string>();
  readonly secrets: Record<string, number> = {};
  #time: string | undefined;

  constructor(
    engine: Engine,
    name: SourceName,
    masking: { readonly mask: Masker | undefined; readonly keepsMasked: boolean },
  ) {
    this.#engine = engine;
    this.#name = name;
    this.#prices = engine.recording.prices ?? {};
    this.#mask = masking.mask;
    this.#keepsMasked = masking.keepsMasked;
  }

  /** Returns a unit with its events; one without a meaning becomes `source.kept`. */
  prepare(
    file: string,
    raw: RawUnit,
    meaning: UnitMeaning,
    { reason, settled = [] }: { readonly reason?: string | undefined; readonly settled?: readonly EventDraft[] },
  ): PreparedUnit {
    const { at, text, bytes, end } = raw;
    const id = this.#idOf(`${file}\n${this.#chains.get(file) ?? ''}\n${text ?? base64(bytes ?? new Uint8Array())}`);
    this.#chains.set(file, id);
    const place: JsonObject = {
      ...(file === '' ? {} : { file }),
      at,
      ...given({ end }),
      ...meaning.place,
    };
    const keep = (drafts: readonly EventDraft[]): EventDraft[] =>
      drafts.map((draft, index) => {
        // The last event carries the type: a count by type is that of the source, and a fork there has all of the unit.
        const type = index === drafts.length - 1 ? { type: meaning.type } : {};
        const own = { ...type, ...(index === 0 ? keptOf(raw, drafts) : {}) };
        return {
          ...draft,
          id: index === 0 ? id : `${id}-${index}`,
          data: { ...draft.data, foreign: { ...place, ...own } },
        };
      });
    const fallback = (why: string | undefined): EventDraft =>
      this.#finished(keep([{ type: 'source.kept', data: given({ reason: why }) }]))[0] as EventDraft;
    const drafts = meaning.drafts.length === 0 ? [fallback(reason)] : this.#finished(keep(meaning.drafts));
    if (!this.#keepsMasked && text !== undefined) this.#masked({ type: 'source.kept', data: { text } });
    const ends = this.#finished(settled.map((draft, index) => ({ ...asSettled(draft), id: `${id}-s${index}` })));
    return { file, at, id, meaning, settled: ends, drafts, fallback, size: (text?.length ?? bytes?.length ?? 0) + 256 };
  }

  /** Returns the events that the end of a source settles. */
  ends(drafts: readonly EventDraft[]): EventDraft[] {
    return this.#finished(
      drafts.map((draft, index) => ({
        ...asSettled(draft),
        id: this.#idOf(`end\n${index}\n${stringAt(draft.data as JsonObject, 'call') ?? ''}`),
      })),
    );
  }

  /** Returns an event about the source as a whole, with an id that a second import gives it too. */
  about(draft: EventDraft, what: string): EventDraft {
    return { ...this.#timed(draft), id: this.#idOf(what) };
  }

  #idOf(text: string): string {
    const { format, source } = this.#name;
    return this.#engine.platform.sha256(`${format}\n${source}\n${text}`).slice(0, 32);
  }

  #finished(drafts: readonly EventDraft[]): EventDraft[] {
    return drafts.map((draft) => {
      const finished = this.#priced(this.#caused(this.#named(this.#timed(draft))));
      return this.#keepsMasked ? this.#masked(finished) : finished;
    });
  }

  /** Gives an event the time of the one before it if it has none that can be read. */
  #timed(draft: EventDraft): EventDraft {
    const time = draft.time === undefined ? undefined : readTime(draft.time);
    if (time !== undefined) this.#time = time;
    const { time: _, ...rest } = draft;
    return { ...rest, ...given({ time: time ?? this.#time }) };
  }

  /** Leaves out agents and runs that are no ids here. */
  #named(draft: EventDraft): EventDraft {
    const { agent, run, ...rest } = draft;
    return {
      ...rest,
      ...(agent !== undefined && isId('agent', agent) ? { agent } : {}),
      ...(run !== undefined && isId('run', run) ? { run } : {}),
    };
  }

  #caused(draft: EventDraft): EventDraft {
    if (draft.type !== 'call.started' && draft.type !== 'call.ended') return draft;
    const call = `${draft.agent ?? ''}\n${stringAt(draft.data as JsonObject, 'call') ?? ''}`;
    if (draft.type === 'call.started') {
      this.#calls.set(call, draft.id ?? '');
      if (this.#calls.size > openCallsMax) this.#calls.delete(this.#calls.keys().next().value ?? '');
      return draft;
    }
    const cause = this.#calls.get(call);
    this.#calls.delete(call);
    return cause === undefined || draft.cause !== undefined ? draft : { ...draft, cause };
  }

  /** Adds what a model call cost by the table of prices. */
  #priced(draft: EventDraft): EventDraft {
    const data = draft.data as JsonObject | undefined;
    const usage = objectAt(data, 'usage');
    if (draft.type !== 'call.ended' || usage === undefined || data?.['cost'] !== undefined) return draft;
    const cost = costOf(this.#prices, stringAt(data, 'name') ?? '', {
      ...given({ inputTokens: numberAt(usage, 'inputTokens'), outputTokens: numberAt(usage, 'outputTokens') }),
      ...given({ cachedInputTokens: numberAt(usage, 'cachedInputTokens') }),
      ...given({ cacheWriteTokens: numberAt(usage, 'cacheWriteTokens') }),
    });
    return cost === undefined ? draft : { ...draft, data: { ...data, cost } };
  }

  /** Counts the secrets of an event, or of a unit's text, by rule, and returns the event with its secrets masked. */
  #masked(draft: EventDraft): EventDraft {
    if (this.#mask === undefined) return draft;
    const masked = this.#mask(draft);
    if (masked === draft) return draft;
    const rules = isObject(masked.data) ? masked.data['masked'] : undefined;
    for (const rule of Array.isArray(rules) ? rules : [])
      this.secrets[String(rule)] = (this.secrets[String(rule)] ?? 0) + 1;
    return masked;
  }
}

/** Marks an event that no unit of its own stands for, so that an export does not write it a second time. */
const asSettled = (draft: EventDraft): EventDraft => ({
  ...draft,
  data: { ...draft.data, foreign: { type: 'settled' } },
});

function keptOf({ text, bytes }: RawUnit, drafts: readonly EventDraft[]): JsonObject {
  if (text === undefined) return { bytes: base64(bytes ?? new Uint8Array()) };
  return {
    text: keepText(
      text,
      drafts.map(({ data }) => data),
    ) as JsonObject[string],
  };
}

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** Returns bytes as base64. */
function base64(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 3) {
    const [a = 0, b = 0, c = 0] = bytes.subarray(at, at + 3);
    const bits = (a << 16) | (b << 8) | c;
    text += `${letters[bits >> 18]}${letters[(bits >> 12) & 63]}`;
    text += at + 1 < bytes.length ? letters[(bits >> 6) & 63] : '=';
    text += at + 2 < bytes.length ? letters[bits & 63] : '=';
  }
  return text;
}

/** Returns the bytes of base64 text. */
export function bytesOf(text: string): Uint8Array {
  const plain = text.replace(/=+$/, '');
  const bytes = new Uint8Array(Math.floor((plain.length * 3) / 4));
  let [bits, count, at] = [0, 0, 0];
  for (const letter of plain) {
    bits = ((bits << 6) | letters.indexOf(letter)) & 0xffffff;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes[at++] = (bits >> count) & 0xff;
  }
  return bytes;
}
