import type { Event } from '../../core/event/event.ts';
import { isShipped } from '../../core/event/kept-name.ts';
import { applyEvent, defineProjection, initialValue, type Projection } from '../../core/event/projection.ts';
import { given } from '../../core/json.ts';
import { beginning, maxSeq, type Seq } from '../../core/point.ts';
import type { SnapshotKey } from '../../core/store/event-store.ts';
import type { Piece } from '../../core/view/piece.ts';
import { inRange, rawPieces } from '../../core/view/segment.ts';
import type { View } from '../../core/view/view.ts';
import { stagesOf } from './fold-stages.ts';
import type { Hypothesis } from './hypothesis.ts';
import { listEditsOf } from './list-edits.ts';
import { replacedIdsOf } from './replaced-ids.ts';
import { eventsOf, type Sight, sessionOf } from './sight.ts';
import { type Believes, basesFor, keyFor, type SnapshotBase, SnapshotKeeper } from './snapshot.ts';
import type { EventsRequest } from './stored-events.ts';

/** The share of a turn of the event loop that a fold takes at most, where its events or its value are heavy. */
export interface Pace {
  /** Events that it reads at once. */
  readonly pageEvents: number;
  /** Bytes of a value that it keeps. */
  readonly snapshotBytesMax: number;
}

/** A projection to fold, and what to begin with and to keep. */
export interface FoldOrder {
  readonly projection: Projection<unknown, unknown>;
  /** Whether the value at the end is kept: `always`, when it is `due`, or `never`. */
  readonly keep: 'always' | 'due' | 'never';
  /** The snapshots that it may continue from; any that are kept if left out. */
  readonly proved?: { readonly key: SnapshotKey; readonly believes: Believes };
  /** A value of the caller to continue from. The caller keeps the new one. */
  readonly base?: SnapshotBase<unknown>;
  readonly pace?: Pace;
}

/** A value, and whether every event in it was read from the log now: then no snapshot has a part in it. */
export interface FoldedValue {
  readonly value: unknown;
  readonly isFromLog: boolean;
}

/**
 * Folds several projections over a sight, and returns their values. The snapshots of all are looked up together, and the
 * view and the raw history are each read once.
 */
export async function foldTogether(sight: Sight, orders: readonly FoldOrder[]): Promise<FoldedValue[]> {
  for (const { projection } of orders) defineProjection(projection);
  const running = await begun(sight, orders);
  const isRaw = ({ projection }: RunningFold): boolean => projection.history === 'raw';
  await readFor(
    sight,
    running.filter((held) => !isRaw(held)),
    false,
  );
  await readFor(sight, running.filter(isRaw), true);
  for (const held of running) await held.end();
  return running.map(({ value, isFromLog }) => ({ value, isFromLog }));
}

/** Begins folds where their snapshots allow. */
async function begun(sight: Sight, orders: readonly FoldOrder[]): Promise<RunningFold[]> {
  const { engine, hypothesis, view } = sight;
  const raw: View = { pieces: rawPieces(hypothesis.history, hypothesis.at) };
  const wanted = await Promise.all(
    orders.map(async ({ projection, keep, proved, base }) => {
      const isKept = proved === undefined && keep !== 'never' && projection.version !== undefined;
      const key = proved?.key ?? (isKept ? keyFor(projection, await sessionOf(sight)) : undefined);
      const after = windowStart(projection, hypothesis.at);
      const believes: Believes = (found) => found.seq > after && proved?.believes(found) !== false;
      const whole = projection.history === 'raw' ? raw : view;
      return { key, after, whole, believes, history: projection.history, isSought: base === undefined };
    }),
  );
  const bases = await basesFor(
    sight,
    wanted.map(({ key, isSought, ...about }) => (key === undefined || !isSought ? undefined : { key, ...about })),
  );
  return orders.map((order, index) => {
    const { key, after = beginning, whole = view } = wanted[index] ?? {};
    const base = order.base ?? bases[index];
    const all = after === beginning ? whole : { pieces: clipRaw(hypothesis, after) };
    // A value that the caller has is kept by the caller.
    const mayKeep = key !== undefined && order.keep !== 'never' && order.base === undefined;
    const bytesMax = order.pace?.snapshotBytesMax;
    const keeper =
      mayKeep && hypothesis.events.size === 0
        ? new SnapshotKeeper(engine, hypothesis.place, order.projection, { key, base, bytesMax })
        : undefined;
    return new RunningFold(order, { base, rest: base?.rest ?? all, keeper, at: hypothesis.at });
  });
}

/** Returns the seq after which the value of a projection begins; the beginning for one without a window. */
function windowStart({ window }: Projection<unknown, unknown>, at: Seq): Seq {
  return window === undefined || at === beginning ? beginning : ((at - 1 - ((at - 1) % window)) as Seq);
}

/** Returns the pieces of a raw history after a seq. */
function clipRaw({ history, at }: Hypothesis, after: Seq): View['pieces'] {
  return rawPieces(history, at)
    .filter((piece) => piece.through > after)
    .map((piece) => ({ ...piece, after: maxSeq(piece.after, after) }));
}

/** One projection, as far as it was folded. */
class RunningFold {
  readonly projection: Projection<unknown, unknown>;
  /** The part of its history that its value does not have yet: the end of that history. */
  readonly rest: View;
  readonly pace: Pace | undefined;
  readonly isFromLog: boolean;
  readonly #order: FoldOrder;
  readonly #keeper: SnapshotKeeper<unknown, unknown> | undefined;
  readonly #at: Seq;
  #isBegun = false;
  value: unknown;

  constructor(
    order: FoldOrder,
    {
      base,
      rest,
      keeper,
      at,
    }: {
      readonly base: SnapshotBase<unknown> | undefined;
      readonly rest: View;
      readonly keeper: SnapshotKeeper<unknown, unknown> | undefined;
      readonly at: Seq;
    },
  ) {
    this.projection = order.projection;
    this.pace = order.pace;
    this.rest = rest;
    this.isFromLog = base === undefined;
    this.#order = order;
    this.#keeper = keeper;
    this.#at = at;
    this.value = base === undefined ? initialValue(order.projection) : base.value;
  }

  /** Returns whether it folds an event of the history that is read, which may begin before its own rest. */
  takes({ type, seq }: Event): boolean {
    this.#isBegun ||= this.rest.pieces.some((piece) => isIn(piece, seq));
    return this.#isBegun && this.projection.types?.includes(type) !== false;
  }

  /** Folds an event; true if its value may be due to be kept then. */
  fold(event: Event, bytes: number): boolean {
    this.value = applyEvent(this.projection, this.value, event);
    const isDue = this.#keeper?.isDue(bytes) === true;
    return isDue && this.#order.keep === 'due' && this.projection.window === undefined;
  }

  /** Keeps the value after an event that ends a view. */
  async keep(event: Event): Promise<void> {
    await this.#keeper?.offer(event, this.value);
  }

  /** Keeps the value at the end, if it is due or asked for. */
  async end(): Promise<void> {
    const { window } = this.projection;
    // A whole window never changes again, and is read as a whole: its value is kept, however small its events are.
    const isWhole = window !== undefined && this.#at % window === 0;
    await this.#keeper?.offerEnd(this.value, this.#order.keep === 'always' || isWhole);
  }
}

const isIn = (piece: Piece, seq: Seq): boolean => (piece.kind === 'carried' ? piece.seq === seq : inRange(piece, seq));

/** Reads one of the two histories for the folds that need it, once. */
async function readFor(sight: Sight, running: readonly RunningFold[], isRaw: boolean): Promise<void> {
  for (const { part, folds } of stagesOf(running)) {
    const request = await requestFor(sight, folds, isRaw);
    for await (const { events, bytes } of eventsOf(sight, part, request)) {
      for (const event of events) {
        for (const held of folds) {
          if (!held.takes(event)) continue;
          // A fold may change its value in place, and with it what it took from an event that others get too.
          const own = folds.length === 1 || isShipped(held.projection) ? event : structuredClone(event);
          if (held.fold(own, bytes / events.length)) await held.keep(event);
        }
      }
    }
  }
}

/** Returns how to read the events that several folds need: the types of all, without what none of them uses. */
async function requestFor(sight: Sight, running: readonly RunningFold[], isRaw: boolean): Promise<EventsRequest> {
  const projections = running.map(({ projection }) => projection);
  const every = projections.every(({ types }) => types !== undefined);
  const types = every ? [...new Set(projections.flatMap((projection) => projection.types ?? []))] : undefined;
  const [first, ...others] = projections.map(({ without = [] }) => without);
  const without = (first ?? []).filter((field) => others.every((fields) => fields.includes(field)));
  const pages = running.flatMap(({ pace }) => pace?.pageEvents ?? []);
  return {
    listEdits: isRaw ? undefined : await listEditsOf(sight),
    replacedIds: isRaw ? undefined : await replacedIdsOf(sight),
    ...given({
      without: without.length === 0 ? undefined : without,
      filter: types === undefined ? undefined : { types },
      limit: pages.length === 0 ? undefined : Math.min(...pages),
    }),
  };
}
