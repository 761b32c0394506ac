import { type CallHalf, halfOf, pairHalves } from '../../core/event/call-halves.ts';
import { isEdited } from '../../core/event/edit-id.ts';
import type { Event, Outcome } from '../../core/event/event.ts';
import { given, isObject, type JsonObject, type JsonValue, valueAt } from '../../core/json.ts';
import { limits } from '../../core/limits.ts';
import { storedJson } from '../../core/parts/decode.ts';
import type { Point, Seq } from '../../core/point.ts';
import { type EffectClass, effectCallOf, effectOf } from '../../core/recording/effects.ts';
import type { ReusedAnswer } from '../../core/recording/recorder.ts';
import { onwardFrom, throughHead } from '../../core/session/read-through.ts';
import type { BranchSummary, Cursor, SessionRecord, StoredEvent } from '../../core/store/event-store.ts';
import { ownSegment, segmentOver } from '../../core/view/segment.ts';
import type { Segment, View } from '../../core/view/view.ts';
import { type Engine, sessionRef } from '../context/engine.ts';
import { placeAtHead } from '../history/place.ts';
import { dataOf, decoderFor, readPoints, toEvent, unwrap } from '../history/stored-events.ts';
import { replay } from '../looking/replay.ts';
import type { AskedCall } from './asked-call.ts';
import { callKey, isWithheld, type KnownCall, type MaskedCall, maskedCall } from './known-call.ts';

/** A call from the record. */
interface RecordedCall extends KnownCall {
  readonly seq: Seq;
  readonly endSeq: Seq | undefined;
  /** Whether an edit wrote its start. */
  readonly isEdit: boolean;
}

/** A call, or the end of a call, outside a view. */
interface OutsideCall extends KnownCall {
  /** Whether its start is in the view and only its end is outside. */
  readonly beganInside: boolean;
}

/** The calls of a session, inside and outside a view. */
export interface CallsAround {
  readonly inside: readonly KnownCall[];
  readonly outside: readonly (readonly OutsideCall[])[];
}

/** One half of a call that may have had an effect. */
interface EffectHalf extends CallHalf {
  readonly branch: string;
  readonly seq: Seq;
  readonly call: string;
  readonly name: string;
  /** Whether an edit wrote it: it says nothing about the world outside the branch that was edited. */
  readonly isEdit: boolean;
  readonly effect: EffectClass;
  readonly key: string;
  readonly masked: MaskedCall | undefined;
  readonly outcome: Outcome | undefined;
  readonly answer: () => Promise<ReusedAnswer>;
  readonly isWithheld: boolean;
  /**
   * False for the end of a call that did nothing to the world: it was refused before it was made, stopped to wait for a
   * person, or was simulated.
   */
  readonly isMade: boolean;
}

/** The record as far as it was read: the halves of calls, and each branch as it was then. */
interface ReadRecord {
  readonly halves: readonly EffectHalf[];
  readonly branches: ReadonlyMap<string, BranchSummary>;
}

/**
 * Holds every call of a session that may have had an effect, and those that runs of this process are making. It reads
 * the record once, when it is first asked, and continues from there when it is renewed. The branches of an experiment
 * share one ledger, so that no variant repeats a call of the others.
 */
export class EffectLedger {
  readonly #engine: Engine;
  readonly #session: string;
  readonly #live = new Map<string, KnownCall[]>();
  #stored: Promise<readonly EffectHalf[]> | undefined;
  /** The record as it was read last. */
  #read: ReadRecord | undefined;
  /** The session as it was then. */
  #of: Pick<SessionRecord, 'genesis' | 'erasures'> | undefined;

  constructor(engine: Engine, session: string) {
    this.#engine = engine;
    this.#session = session;
  }

  /** Notes that a branch makes a call; the returned function takes its end. */
  begin(branch: string, call: string, { key, name }: AskedCall): (ended: ReusedAnswer) => void {
    let settle: () => void = () => undefined;
    const settled = new Promise<void>((resolve) => {
      settle = resolve;
    });
    const answer = (): Promise<ReusedAnswer> => Promise.reject(new Error('The call has not ended'));
    const made = { branch, seq: undefined, call, name, key, masked: undefined };
    const known: KnownCall = { ...made, outcome: undefined, answer, settled };
    this.#live.set(branch, [...(this.#live.get(branch) ?? []), known]);
    return (ended) => {
      known.outcome = ended.outcome;
      known.answer = () => Promise.resolve(ended);
      settle();
    };
  }

  /** Notes that a branch got an answer from the record, which counts as a call of its own from now on. */
  reuse(branch: string): void {
    this.#live.set(branch, this.#live.get(branch) ?? []);
  }

  /** Returns the effect class a tool was last recorded with; undefined if it never was or its class is unknown. */
  async effectOf(name: string): Promise<EffectClass | undefined> {
    this.#stored ??= this.#readOn();
    return (await this.#stored).findLast((half) => half.isStart && half.name === name && half.effect !== 'unknown')
      ?.effect;
  }

  /** Returns the tools that were called, with the effect class each was last recorded with, in order of first use. */
  async tools(): Promise<ReadonlyMap<string, EffectClass>> {
    this.#stored ??= this.#readOn();
    const tools = new Map<string, EffectClass>();
    for (const { isStart, isPerson, name, effect } of await this.#stored)
      if (isStart && !isPerson) tools.set(name, effect);
    return tools;
  }

  /** Reads the arguments that a recorded call was made with. */
  async inputOf({ branch, seq }: KnownCall): Promise<JsonValue | undefined> {
    const points = seq === undefined ? [] : [{ branch, seq }];
    const [event] = await readPoints(this.#engine, this.#session, points);
    if (event === undefined) return undefined;
    return isObject(event.data['event']) ? unwrap(event).data['input'] : event.data['input'];
  }

  /**
   * Reads what came since at the next question, if this branch has made calls since the record was read. It reads
   * everything again if content was erased meanwhile, or the session was deleted and made again.
   */
  renew(branch: string, { genesis, erasures }: Pick<SessionRecord, 'genesis' | 'erasures'>): void {
    const isSame = this.#of?.genesis === genesis && this.#of.erasures === erasures;
    if (this.#live.delete(branch) || !isSame) this.#stored = undefined;
    if (isSame) return;
    this.#of = { genesis, erasures };
    this.#read = undefined;
  }

  /** Counts the equal calls that other branches of this process have started. */
  begunBeside(branch: string, key: string): number {
    return this.liveBeside(branch).reduce((sum, calls) => sum + calls.filter((known) => known.key === key).length, 0);
  }

  /** Returns the calls of other branches of this process since the record was read, each branch in order. */
  liveBeside(branch: string): readonly (readonly KnownCall[])[] {
    return [...this.#live].flatMap(([name, calls]) => (name === branch ? [] : [calls]));
  }

  /**
   * Finds an equal call that a different writer started on the branch, after a seq and before the start that is stored
   * now.
   */
  async begunBefore(
    stored: { readonly branch: string; readonly after: Seq; readonly id: string | undefined },
    asked: AskedCall,
    own: ReadonlySet<string>,
  ): Promise<KnownCall | undefined> {
    const { branch, after, id } = stored;
    const read = { history: 'raw', after, filter: { types: ['call.started'] } } as const;
    for await (const event of replay(this.#engine, () => placeAtHead(this.#engine, this.#session, branch), read)) {
      if (event.id === id) return undefined;
      if (own.has(event.id)) continue;
      const [same] = asked.in(this.#half(event));
      if (same !== undefined) return same;
    }
    return undefined;
  }

  /**
   * Finds an equal call that a different process or resume started on a different branch since the record was read.
   * Each writer stores its start before it looks, so that of two at least one sees the other.
   */
  async begunElsewhere(own: string, asked: AskedCall): Promise<KnownCall | undefined> {
    const branches = await this.#engine.store.branches(sessionRef(this.#engine, this.#session));
    const halves = await this.#readHalves(
      branches
        .filter(({ branch }) => branch !== own)
        .map((now) => unreadOf(this.#read?.branches.get(now.branch), now))
        .filter(({ after, through }) => through > after),
    );
    const calls = [...Map.groupBy(halves, ({ branch }) => branch).values()].flatMap(madeCalls);
    // The guards of this process have already decided about its own calls together.
    const isLive = ({ branch, call }: KnownCall): boolean =>
      this.#live.get(branch)?.some((live) => live.call === call) === true;
    return asked.in(calls).find((known) => !isLive(known));
  }

  /**
   * Returns true if a recorded call is in the history of a branch. A branch that is newer than the record has the calls
   * of every branch but this one.
   */
  isIn(branch: string, call: KnownCall, own: string): boolean {
    return this.#read?.branches.has(branch) === true ? this.#reaches(branch, call) : call.branch !== own;
  }

  /** Returns true if an event is in the raw history of a branch. */
  #reaches(branch: string, stored: Pick<KnownCall, 'branch' | 'seq'>): boolean {
    let through = Number.POSITIVE_INFINITY;
    for (let at: string | undefined = branch; at !== undefined; ) {
      if (at === stored.branch) return (stored.seq ?? through) <= through;
      const parent: Point | undefined = this.#read?.branches.get(at)?.parent;
      through = parent?.seq ?? through;
      at = parent?.branch;
    }
    return false;
  }

  /** Returns the calls inside a view, and those outside it by branch, each in order. */
  async around(view: View): Promise<CallsAround> {
    this.#stored ??= this.#readOn();
    const branches = Map.groupBy(await this.#stored, ({ branch }) => branch);
    const isInside = placesOf(view);
    // An edit starts no call in the world: an edited call counts if it has an answer, and is never in doubt.
    const inside = pairUp(await this.#halvesIn(view, branches)).filter(
      (known) => known.outcome !== undefined || !known.isEdit,
    );
    const outside = [...branches.values()].map((halves) =>
      madeCalls(halves).flatMap((known): OutsideCall[] => {
        const beganInside = isInside({ branch: known.branch, seq: known.seq });
        const isWhole = known.endSeq === undefined || isInside({ branch: known.branch, seq: known.endSeq });
        return beganInside && isWhole ? [] : [{ ...known, beganInside }];
      }),
    );
    return { inside, outside };
  }

  /** Returns the halves of calls in a view, in its order; those that markers carry are read now. */
  async #halvesIn({ pieces }: View, branches: ReadonlyMap<string, readonly EffectHalf[]>): Promise<EffectHalf[]> {
    const isCall = ({ type }: { readonly type: string }): boolean => type === 'call.started' || type === 'call.ended';
    const carried = pieces.filter((piece) => piece.kind === 'carried').filter(isCall);
    const markers = carried.length === 0 ? [] : await readPoints(this.#engine, this.#session, carried);
    return pieces.flatMap((piece) => {
      if (piece.kind === 'range') {
        const { after, through } = piece;
        return branches.get(piece.branch)?.filter(({ seq }) => seq > after && seq <= through) ?? [];
      }
      const answers = new Set(piece.answers);
      const isReplaced = (half: EffectHalf): boolean => answers.has(half.seq) && this.#reaches(piece.branch, half);
      const replaced = [...branches.values()].flatMap((halves) => halves.filter(isReplaced).map(({ event }) => event));
      const events = markers.filter(({ seq }) => seq === piece.seq).map((marker) => unwrap(marker));
      return events
        .filter(({ data }) => data['kind'] !== 'model')
        .flatMap((event) => this.#half(event))
        .map((half) => ({ ...half, replaced, isEdit: true }));
    });
  }

  /** Reads each stored event once: every branch from its fork on, or from where it was read to. */
  async #readOn(): Promise<readonly EffectHalf[]> {
    const of = this.#of;
    const branches = await this.#engine.store.branches(sessionRef(this.#engine, this.#session));
    const now = new Map(branches.map((held) => [held.branch, held]));
    const isLonger = (was: BranchSummary): boolean => {
      const is = now.get(was.branch);
      const onward = is === undefined ? 'anew' : onwardFrom(throughHead(was), throughHead(is));
      return onward === 'nothing' || onward === 'more';
    };
    const known = [...(this.#read?.branches.values() ?? [])].every(isLonger) ? this.#read : undefined;
    const unread = branches.map((held) => unreadOf(known?.branches.get(held.branch), held));
    const came = await this.#readHalves(unread.filter(({ after, through }) => through > after));
    const halves = [...(known?.halves ?? []), ...came];
    // A reading that began before an erasure may have content that was erased.
    if (this.#of === of) this.#read = { halves, branches: now };
    return halves;
  }

  async #readHalves(segments: readonly Segment[]): Promise<readonly EffectHalf[]> {
    const halves: EffectHalf[] = [];
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
      // Requests to models are most of a record; skip them without decoding them.
      const rows = page.events.filter(mayHaveEffect);
      const decoder = await decoderFor(this.#engine, this.#session, rows);
      halves.push(...rows.flatMap((row) => this.#half(toEvent(this.#session, row, dataOf(row, decoder)))));
      cursor = page.next;
    } while (cursor !== undefined);
    return halves;
  }

  #half(event: Event): EffectHalf[] {
    const { branch, seq, data } = event;
    const { call, name, outcome } = data;
    if (typeof call !== 'string' || typeof name !== 'string') return [];
    const half = halfOf(event);
    const answer = async (): Promise<ReusedAnswer> => {
      const [stored] = await readPoints(this.#engine, this.#session, [{ branch, seq }]);
      const held = stored === undefined ? {} : isObject(stored.data['event']) ? unwrap(stored).data : stored.data;
      return answerIn(held);
    };
    const isRefused = outcome === 'aborted' && valueAt(data, ['error', 'code']) === 'effect.refused';
    return [
      {
        ...half,
        branch,
        seq,
        call,
        name,
        isEdit: isEdited(event),
        effect: effectOf(effectCallOf(data)),
        key: half.isStart ? callKey(data) : '',
        masked: half.isStart ? maskedCall(data) : undefined,
        outcome: half.isStart ? undefined : (outcome as Outcome),
        answer,
        isWithheld: isWithheld(data),
        isMade: outcome !== 'waiting' && !isRefused && data['simulated'] !== true,
      },
    ];
  }
}

/** Returns the part of a branch that was not read: all of it, if it was made again since. */
function unreadOf(read: BranchSummary | undefined, now: BranchSummary): Segment {
  const onward = read === undefined ? 'anew' : onwardFrom(throughHead(read), throughHead(now));
  const isKnown = read !== undefined && (onward === 'nothing' || onward === 'more');
  return isKnown ? segmentOver({ branch: now.branch, after: read.head, through: now.head }) : ownSegment(now);
}

function mayHaveEffect(row: StoredEvent): boolean {
  const data = row.data === null ? undefined : storedJson(row.data);
  return isObject(data) && data['kind'] !== 'model';
}

/** Returns the answer that the end of a call holds. */
function answerIn({ outcome, output, error }: JsonObject): ReusedAnswer {
  return { outcome: outcome as Outcome, output, error: isObject(error) ? error : undefined };
}

/** Returns a function that returns true if a stored event is in a view, unchanged. */
function placesOf({ pieces }: View): (place: { readonly branch: string; readonly seq: Seq }) => boolean {
  const ranges = Map.groupBy(
    pieces.filter((piece) => piece.kind === 'range'),
    ({ branch }) => branch,
  );
  return ({ branch, seq }) => ranges.get(branch)?.some(({ after, through }) => seq > after && seq <= through) === true;
}

/** Returns the calls that were made, by the halves that no edit wrote. */
const madeCalls = (halves: readonly EffectHalf[]): RecordedCall[] => pairUp(halves.filter(({ isEdit }) => !isEdit));

/**
 * Pairs the halves of calls. An end without a start comes from an edit and says nothing about the world; a call that
 * was refused or simulated did nothing to it.
 */
function pairUp(halves: readonly EffectHalf[]): RecordedCall[] {
  return pairHalves(halves).flatMap(({ start, end }): RecordedCall[] => {
    if (start === undefined || end?.isMade === false) return [];
    const { branch, seq, call, name, key, masked, isEdit } = start;
    const { outcome, answer } = end ?? start;
    const withheld = start.isWithheld || end?.isWithheld === true;
    return [{ branch, seq, call, name, key, masked, isEdit, outcome, answer, isWithheld: withheld, endSeq: end?.seq }];
  });
}
