import type { Event, Outcome } from '../../core/event/event.ts';
import { given, isObject, type JsonObject, valueAt } from '../../core/json.ts';
import { limits } from '../../core/limits.ts';
import { storedJson } from '../../core/parts/decode.ts';
import { beginning, type Point, type Seq } from '../../core/point.ts';
import { type EffectClass, effectCallOf, effectKey, effectOf } from '../../core/recording/effects.ts';
import type { ReusedAnswer } from '../../core/recording/recorder.ts';
import type { Cursor, StoredEvent } from '../../core/store/event-store.ts';
import type { Segment, View } from '../../core/view/view.ts';
import { type Engine, sessionRef } from '../context/engine.ts';
import { dataOf, decoderFor, readPoints, unwrap } from '../history/stored-events.ts';
import { replay } from '../looking/replay.ts';

/** A call that may have had an effect: of the record, or of a run that goes on beside. */
export interface KnownCall {
  readonly branch: string;
  readonly seq: Seq | undefined;
  readonly call: string;
  /** The same for calls of one name with equal arguments. */
  readonly key: string;
  /** How it ended; undefined while nobody knows. */
  outcome: Outcome | undefined;
  /** What it gave, once it has ended. */
  answer: () => Promise<ReusedAnswer>;
  /** Whether its arguments or its answer could not be recorded: it happened, and cannot stand in for another. */
  isWithheld?: boolean;
  /** Of a call that is being made now: resolves when it has ended. */
  readonly settled?: Promise<void>;
}

/** A call of the record. */
interface RecordedCall extends KnownCall {
  readonly seq: Seq;
  endSeq: Seq | undefined;
}

/** A call, or the end of one, that is not in a view. */
export interface OutsideCall extends KnownCall {
  /** Whether its start is in the view, so that only how it ended is not. */
  readonly beganInside: boolean;
}

/** The calls of a session, seen from a view. */
export interface CallsAround {
  readonly inside: readonly KnownCall[];
  readonly outside: readonly (readonly OutsideCall[])[];
}

/** One half of a call: its start or its end. */
interface CallHalf {
  readonly branch: string;
  readonly seq: Seq;
  readonly isStart: boolean;
  readonly call: string;
  readonly name: string;
  readonly effect: EffectClass;
  readonly key: string;
  readonly outcome: Outcome | undefined;
  readonly answer: () => Promise<ReusedAnswer>;
  readonly isWithheld: boolean;
  /** False of the end of a call that was begun and refused before it was made. */
  readonly isMade: boolean;
}

/** What makes calls equal, whichever of them it is: what is stored of a `call.started`, the arguments included. */
export function callKey(started: JsonObject): string {
  return effectKey(String(started['name']), isWithheld(started) ? { notRecorded: true } : started['input'], 0);
}

const isWithheld = (data: JsonObject): boolean => data['notRecorded'] !== undefined;

/**
 * Every call of a session that may have had an effect, read once when it is first asked for, and those that runs of
 * this process are making. Experiments share one, so that no variant repeats what another has just done.
 */
export class EffectLedger {
  readonly #engine: Engine;
  readonly #session: string;
  readonly #live = new Map<string, KnownCall[]>();
  readonly #parents = new Map<string, Point | undefined>();
  /** Up to where each branch is known. */
  readonly #known = new Map<string, Seq>();
  #stored: Promise<readonly CallHalf[]> | undefined;

  constructor(engine: Engine, session: string) {
    this.#engine = engine;
    this.#session = session;
  }

  /** Notes that a branch makes a call; what is given back tells how it ended. */
  begin(branch: string, call: string, key: string): (ended: ReusedAnswer) => void {
    let settle: () => void = () => undefined;
    const settled = new Promise<void>((resolve) => {
      settle = resolve;
    });
    const answer = (): Promise<ReusedAnswer> => Promise.reject(new Error('The call has not ended'));
    const known: KnownCall = { branch, seq: undefined, call, key, outcome: undefined, answer, settled };
    this.#live.set(branch, [...(this.#live.get(branch) ?? []), known]);
    return (ended) => {
      known.outcome = ended.outcome;
      known.answer = () => Promise.resolve(ended);
      settle();
    };
  }

  /** Notes that a branch was given an answer of the record, which is a call of its own from now on. */
  reuse(branch: string): void {
    this.#live.set(branch, this.#live.get(branch) ?? []);
  }

  /** What a tool was declared as when it was last recorded; undefined where it never was, or nobody said. */
  async effectOf(name: string): Promise<EffectClass | undefined> {
    this.#stored ??= this.#read();
    return (await this.#stored).findLast((half) => half.isStart && half.name === name && half.effect !== 'unknown')
      ?.effect;
  }

  /** Reads the record again when it is next asked for, if this branch has made calls since it was read. */
  renew(branch: string): void {
    if (this.#live.delete(branch)) this.#stored = undefined;
  }

  /** How many calls like this other branches of this process have begun. */
  begunBeside(branch: string, key: string): number {
    return this.liveBeside(branch).reduce((sum, calls) => sum + calls.filter((known) => known.key === key).length, 0);
  }

  /** What other branches of this process have made since the record was read, each in order. */
  liveBeside(branch: string): readonly (readonly KnownCall[])[] {
    return [...this.#live].flatMap(([name, calls]) => (name === branch ? [] : [calls]));
  }

  /** A call like the one whose start is stored now, which someone else began on the branch since a seq and before it. */
  async begunBefore(
    stored: { readonly branch: string; readonly after: Seq; readonly id: string | undefined },
    key: string,
    own: ReadonlySet<string>,
  ): Promise<KnownCall | undefined> {
    const { branch, after, id } = stored;
    const read = { at: { branch }, history: 'raw', after, filter: { types: ['call.started'] } } as const;
    for await (const event of replay(this.#engine, this.#session, read)) {
      if (event.id === id) return undefined;
      if (own.has(event.id) || callKey(event.data) !== key) continue;
      const [half] = this.#half(event, event.type, event.data);
      if (half !== undefined) return half;
    }
    return undefined;
  }

  /**
   * A call like the one whose start is stored now, which another process, or another resume of this one, began on another
   * branch since the record was read. Whoever stores a start looks for the others after that, so that of two at least one
   * sees the other.
   */
  async begunElsewhere(own: string, key: string): Promise<KnownCall | undefined> {
    const branches = await this.#engine.store.branches(sessionRef(this.#engine, this.#session));
    const halves = await this.#readHalves(
      branches
        .filter(({ branch }) => branch !== own)
        .map(({ branch, parent, head }): Segment => {
          const after = this.#known.get(branch) ?? parent?.seq ?? beginning;
          return { branch, after, through: head, except: [], carried: false };
        })
        .filter(({ after, through }) => through > after),
    );
    const calls = [...Map.groupBy(halves, ({ branch }) => branch).values()].flatMap(pairUp);
    // What this process makes beside was decided about together.
    const isLive = ({ branch, call }: KnownCall): boolean =>
      this.#live.get(branch)?.some((live) => live.call === call) === true;
    return calls.find((known) => known.key === key && !isLive(known));
  }

  /** Whether a call of the record is in the history of a branch; of one that is newer than the record, if it is another's. */
  isIn(branch: string, call: KnownCall, own: string): boolean {
    if (!this.#parents.has(branch)) return call.branch !== own;
    let through = Number.POSITIVE_INFINITY;
    for (let at: string | undefined = branch; at !== undefined; ) {
      if (at === call.branch) return (call.seq ?? through) <= through;
      const parent = this.#parents.get(at);
      through = parent?.seq ?? through;
      at = parent?.branch;
    }
    return false;
  }

  /** What the record holds, seen from a view: the calls in it, and what else happened, by branch and in order. */
  async around(view: View): Promise<CallsAround> {
    this.#stored ??= this.#read();
    const branches = Map.groupBy(await this.#stored, ({ branch }) => branch);
    const isInside = placesOf(view);
    // What an edit begins was never begun in the world: it is there if it is answered, and in doubt it is not.
    const inside = pairUp(await this.#halvesIn(view, branches)).filter(
      (known) => known.outcome !== undefined || isInside(known),
    );
    const outside = [...branches.values()].map((halves) =>
      pairUp(halves).flatMap((known): OutsideCall[] => {
        const beganInside = isInside({ branch: known.branch, seq: known.seq });
        const isWhole = known.endSeq === undefined || isInside({ branch: known.branch, seq: known.endSeq });
        return beganInside && isWhole ? [] : [{ ...known, beganInside }];
      }),
    );
    return { inside, outside };
  }

  /** The halves of calls in a view, in its order; those that markers carry are read now. */
  async #halvesIn({ pieces }: View, branches: ReadonlyMap<string, readonly CallHalf[]>): Promise<CallHalf[]> {
    const isCall = ({ type }: { readonly type: string }): boolean => type === 'call.started' || type === 'call.ended';
    const carried = pieces.filter((piece) => piece.kind === 'carried').filter(isCall);
    const markers = carried.length === 0 ? [] : await readPoints(this.#engine, this.#session, carried);
    return pieces.flatMap((piece) => {
      if (piece.kind === 'range') {
        const { after, through } = piece;
        return branches.get(piece.branch)?.filter(({ seq }) => seq > after && seq <= through) ?? [];
      }
      return markers.filter(({ seq }) => seq === piece.seq).flatMap((marker) => this.#carriedHalf(marker));
    });
  }

  #carriedHalf(marker: Event): CallHalf[] {
    const { type, data } = unwrap(marker);
    return data['kind'] === 'model' ? [] : this.#half(marker, type, data);
  }

  /** Each stored event once: every branch from where it was forked. */
  async #read(): Promise<readonly CallHalf[]> {
    const branches = await this.#engine.store.branches(sessionRef(this.#engine, this.#session));
    for (const { branch, parent, head } of branches) {
      this.#parents.set(branch, parent);
      this.#known.set(branch, head);
    }
    return this.#readHalves(
      branches.map(
        ({ branch, parent, head }): Segment => ({
          branch,
          after: parent?.seq ?? beginning,
          through: head,
          except: [],
          carried: false,
        }),
      ),
    );
  }

  async #readHalves(segments: readonly Segment[]): Promise<readonly CallHalf[]> {
    const halves: CallHalf[] = [];
    if (segments.length === 0) return halves;
    const ref = sessionRef(this.#engine, this.#session);
    let cursor: Cursor | undefined;
    do {
      const page = await this.#engine.store.read(ref, segments, {
        limit: limits.pageEventsMax,
        select: 'full',
        direction: 'forward',
        filter: { types: ['call.started', 'call.ended'] },
        ...given({ cursor }),
      });
      this.#engine.onRead(page.events.length);
      // What models were asked is most of a record, and need not be put together to be passed over.
      const rows = page.events.filter(mayHaveEffect);
      const decoder = await decoderFor(this.#engine, this.#session, rows);
      halves.push(...rows.flatMap((row) => this.#half(row, row.type, dataOf(row, decoder))));
      cursor = page.next;
    } while (cursor !== undefined);
    return halves;
  }

  #half({ branch, seq }: { readonly branch: string; readonly seq: Seq }, type: string, data: JsonObject): CallHalf[] {
    const { call, name, outcome } = data;
    if (typeof call !== 'string' || typeof name !== 'string') return [];
    const isStart = type === 'call.started';
    const answer = async (): Promise<ReusedAnswer> => {
      const [event] = await readPoints(this.#engine, this.#session, [{ branch, seq }]);
      const held = event === undefined ? {} : isObject(event.data['event']) ? unwrap(event).data : event.data;
      return answerIn(held);
    };
    const key = isStart ? callKey(data) : '';
    const effect = effectOf(effectCallOf(data));
    const ended = isStart ? undefined : (outcome as Outcome);
    const isMade = outcome !== 'aborted' || valueAt(data, ['error', 'code']) !== 'effect.refused';
    const withheld = isWithheld(data);
    return [{ branch, seq, isStart, call, name, effect, key, outcome: ended, answer, isWithheld: withheld, isMade }];
  }
}

function mayHaveEffect(row: StoredEvent): boolean {
  const data = row.data === null ? undefined : storedJson(row.data);
  return isObject(data) && data['kind'] !== 'model';
}

/** What the end of a call hands to whoever asks again. */
function answerIn({ outcome, output, error }: JsonObject): ReusedAnswer {
  return { outcome: outcome as Outcome, output, error: isObject(error) ? error : undefined };
}

/** Whether a stored event stands in a view as it is. */
function placesOf({ pieces }: View): (place: { readonly branch: string; readonly seq: Seq }) => boolean {
  const ranges = Map.groupBy(
    pieces.filter((piece) => piece.kind === 'range'),
    ({ branch }) => branch,
  );
  return ({ branch, seq }) => ranges.get(branch)?.some(({ after, through }) => seq > after && seq <= through) === true;
}

/**
 * Calls from their halves. An end without its start was written by an edit, and says nothing about the world; one that
 * was refused before it was made did nothing to it.
 */
function pairUp(halves: readonly CallHalf[]): RecordedCall[] {
  const calls: RecordedCall[] = [];
  const open = new Map<string, RecordedCall>();
  for (const { branch, seq, isStart, call, key, outcome, answer, isWithheld, isMade } of halves) {
    const started = open.get(call);
    if (isStart) {
      const known = { branch, seq, call, key, outcome, answer, isWithheld, endSeq: undefined };
      calls.push(known);
      open.set(call, known);
    } else if (started !== undefined && !isMade) {
      calls.splice(calls.indexOf(started), 1);
      open.delete(call);
    } else if (started !== undefined) {
      started.outcome = outcome;
      started.answer = answer;
      started.isWithheld ||= isWithheld;
      started.endSeq = seq;
      open.delete(call);
    }
  }
  return calls;
}
