import { BoundedMap } from '../../core/bounded-map.ts';
import type { Event, EventDraft } from '../../core/event/event.ts';
import { isId } from '../../core/id.ts';
import { given, type JsonObject, numberAt, objectAt, stringAt } from '../../core/json.ts';
import type { UnitMeaning } from '../../core/recording/foreign-format.ts';
import { keepBytes } from '../../core/recording/kept-bytes.ts';
import { keepText, RepeatedPieces } from '../../core/recording/kept-text.ts';
import { costOf, type PriceTable } from '../../core/recording/prices.ts';
import type { Stretches } from '../../core/recording/stretches.ts';
import { isFirstOfUnit, unitId } from '../../core/recording/unit-id.ts';
import { readTime } from '../../core/time.ts';
import type { Engine } from '../context/engine.ts';
import type { RawUnit } from './source-units.ts';
import { type UnitMasking, UnitMasks } from './unit-masks.ts';

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
  /** Whether its text is JSON. */
  readonly isJson: boolean;
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
  readonly #masks: UnitMasks;
  readonly #calls = new BoundedMap<string, string>(openCallsMax);
  /** The id of the last unit of each file: the id of a unit represents it and everything before it. */
  readonly #chains = new Map<string, string>();
  /** The last time that a draft gave, as it stood there and as it is stored. */
  #given: string | undefined;
  #time: string | undefined;
  #repeated: RepeatedPieces | undefined;

  /** Events before the first one that has a time get `startedAt`. */
  constructor(engine: Engine, name: SourceName, masking: UnitMasking, startedAt: string | undefined) {
    this.#engine = engine;
    this.#name = name;
    this.#prices = engine.recording.prices ?? {};
    this.#masks = new UnitMasks(masking);
    this.#time = startedAt === undefined ? undefined : readTime(startedAt);
  }

  /** How many units, and texts around them, contain a secret, by rule. */
  get secrets(): Readonly<Record<string, number>> {
    return this.#masks.secrets;
  }

  /** Keeps the texts of the units that follow with the pieces that are repeated in them. */
  repeat(stretches: Stretches): void {
    // A mask must see a whole text.
    if (!this.#masks.isMasking && stretches.length > 0) this.#repeated = new RepeatedPieces(stretches);
  }

  /** Returns a unit with its events; one without a meaning becomes `source.kept`. */
  prepare(
    file: string,
    raw: RawUnit,
    meaning: UnitMeaning,
    about: { readonly reason?: string | undefined; readonly isJson: boolean; readonly base?: string | undefined },
  ): PreparedUnit {
    const { reason, isJson, base } = about;
    this.#masks.begin();
    const { at, text, bytes, end } = raw;
    const { settled = [] } = meaning;
    const repeated = isJson ? this.#repeated : undefined;
    const chain = `${file}\n${this.#chains.get(file) ?? ''}\n${text ?? keepBytes(bytes ?? none)}`;
    const id = this.#idOf(chain, at);
    this.#chains.set(file, id);
    const place: JsonObject = {
      ...(file === '' ? {} : { file }),
      ...given({ base }),
      at,
      ...given({ end }),
      ...meaning.place,
    };
    const kept = this.#masks.maskBytes(raw, meaning);
    const keep = (drafts: readonly EventDraft[]): EventDraft[] =>
      drafts.map((draft, index) => {
        // The last event carries the type: a count by type is that of the source, and a fork there has all of the unit.
        const type = index === drafts.length - 1 ? { type: meaning.type } : {};
        if (index > 0) return this.#finished(draft, `${id}-${index}`, { ...place, ...type });
        const foreign = { ...place, ...type, ...keptOf(kept, drafts, repeated) };
        const { masked } = kept;
        const told = masked === undefined ? draft : { ...draft, data: { ...draft.data, masked } };
        return this.#finished(told, id, foreign);
      });
    const fallback = (why: string | undefined): EventDraft =>
      keep([{ type: 'source.kept', data: given({ reason: why }) }])[0] as EventDraft;
    const ends = settled.map((draft, index) => this.#finished(draft, `${id}-s${index}`, settledPlace));
    const drafts = meaning.drafts.length === 0 ? [fallback(reason)] : keep(meaning.drafts);
    this.#masks.countUnit(raw);
    const size = (text?.length ?? bytes?.length ?? 0) + 256;
    return { file, at, id, meaning, settled: ends, drafts, fallback, size, isJson };
  }

  /** Continues after a unit of the main file that the log has: the ids of those that follow represent it too. */
  follow(id: string): void {
    this.#chains.set('', id);
  }

  /** Returns the events that the end of a source settles. */
  ends(drafts: readonly EventDraft[], isAgain: boolean): EventDraft[] {
    const ids = this.endIds(drafts, isAgain);
    return drafts.map((draft, index) => this.#finished(draft, ids[index] ?? '', settledPlace));
  }

  /** Returns the ids of those events. If the source has ended before, the ids for its end now are different. */
  endIds(drafts: readonly EventDraft[], isAgain: boolean): string[] {
    const read = isAgain ? `\n${[...this.#chains.values()].join('\n')}` : '';
    return drafts.map(({ data }, index) =>
      this.#idOf(`end\n${index}\n${stringAt(data as JsonObject, 'call') ?? ''}${read}`),
    );
  }

  /** Returns an event about the source as a whole, with an id that a second import gives it too. */
  about(draft: EventDraft, what: string): EventDraft {
    const about: EventDraft = { ...draft, id: this.#idOf(what), ...given({ time: this.#timeOf(draft) }) };
    this.#masks.begin();
    const masked = this.#masks.maskEvent(about);
    this.#masks.countAround(about);
    if (masked === about) return about;
    // A second import knows its source by these.
    const { format, source, file } = draft.data as JsonObject;
    return { ...masked, data: { ...masked.data, ...given({ format, source, file }) } };
  }

  /**
   * Returns the id of a unit: its place, then a hash. Ids that rise with the source let a store see at once that a new
   * one is new, and keep its index of ids dense.
   */
  #idOf(text: string, at = 0): string {
    const { format, source } = this.#name;
    const hash = this.#engine.platform.sha256(`${format}\n${source}\n${text}`);
    return unitId(at, hash);
  }

  /** Returns an event with its id, time, cause, cost and source. It leaves out an agent or run that cannot be an id here. */
  #finished(draft: EventDraft, id: string, foreign: JsonObject): EventDraft {
    const { agent, run, time: _, ...rest } = draft;
    const cost = this.#costOf(draft);
    const finished: EventDraft = {
      ...rest,
      ...(agent !== undefined && isId('agent', agent) ? { agent } : undefined),
      ...(run !== undefined && isId('run', run) ? { run } : undefined),
      ...given({ time: this.#timeOf(draft), cause: this.#causeOf(draft, id) }),
      id,
      data: cost === undefined ? { ...draft.data, foreign } : { ...draft.data, cost, foreign },
    };
    return this.#masks.maskEvent(finished);
  }

  /** Returns the time of a draft; if it has none that can be read, that of the one before it. */
  #timeOf({ time }: EventDraft): string | undefined {
    if (time !== undefined && time !== this.#given) {
      this.#given = time;
      this.#time = readTime(time) ?? this.#time;
    }
    return this.#time;
  }

  /** Returns the cause of a draft: that of the end of a call is its start. */
  #causeOf({ type, agent, data, cause }: EventDraft, id: string): string | undefined {
    if (type !== 'call.started' && type !== 'call.ended') return cause;
    const call = `${agent ?? ''}\n${stringAt(data as JsonObject, 'call') ?? ''}`;
    if (type === 'call.started') {
      this.#calls.set(call, id);
      return cause;
    }
    const started = this.#calls.get(call);
    this.#calls.delete(call);
    return cause ?? started;
  }

  /** Returns what a model call cost by the table of prices. */
  #costOf(draft: EventDraft): number | undefined {
    if (draft.type !== 'call.ended') return undefined;
    const data = draft.data as JsonObject | undefined;
    const usage = objectAt(data, 'usage');
    if (usage === undefined || data?.['cost'] !== undefined) return undefined;
    return costOf(
      this.#prices,
      stringAt(data, 'name') ?? '',
      given({
        inputTokens: numberAt(usage, 'inputTokens'),
        outputTokens: numberAt(usage, 'outputTokens'),
        cachedInputTokens: numberAt(usage, 'cachedInputTokens'),
        cacheWriteTokens: numberAt(usage, 'cacheWriteTokens'),
      }),
    );
  }
}

/** Returns the id that the first unit of a source of lines has if no base comes before it, by the beginning of the source. */
export function firstUnitId({ platform }: Engine, { format, source }: SourceName, text: string): string {
  const first = text.split('\n', 1)[0]?.replace(/\r$/, '') ?? '';
  return unitId(0, platform.sha256(`${format}\n${source}\n\n\n${first}`));
}

/** Returns a unit that the log has, by its meaning. */
export function heldUnit(id: string, at: number, meaning: UnitMeaning): PreparedUnit {
  const fallback = (reason: string): EventDraft => ({ type: 'source.kept', data: { reason } });
  return { file: '', at, id, meaning, settled: [], drafts: [], fallback, size: 0, isJson: true };
}

/** The source of an event that has no unit, so that an export does not write it a second time. */
const settledPlace: JsonObject = { type: 'settled' };

/** Returns true if the end of a source settled an event. The ids of those that a unit settled begin with that of the unit. */
export const isEnd = ({ id, data: { foreign } }: Event): boolean =>
  stringAt(foreign, 'type') === settledPlace['type'] && numberAt(foreign, 'at') === undefined && isFirstOfUnit(id);

const none = new Uint8Array();

function keptOf(
  { text, bytes, hint }: RawUnit,
  drafts: readonly EventDraft[],
  repeated: RepeatedPieces | undefined,
): JsonObject {
  if (text === undefined) return { bytes: keepBytes(bytes ?? none) };
  return {
    text: keepText(
      text,
      drafts.map(({ data }) => data),
      { hasEscapes: hint?.hasEscapes, repeated },
    ) as JsonObject[string],
  };
}
