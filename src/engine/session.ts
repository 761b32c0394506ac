import type { Edit } from '../core/edit.ts';
import { RepriseError } from '../core/error.ts';
import type { Event, EventDraft } from '../core/event.ts';
import type { EventFilter } from '../core/filter.ts';
import type { JsonObject } from '../core/json.ts';
import type { Digest, Point, Seq } from '../core/point.ts';
import type { Projection } from '../core/projection.ts';
import { mainBranch, type PointInput } from '../core/ref.ts';
import { fingerprintProjection } from '../projections/fingerprint.ts';
import { type AppendOptions, append } from './append.ts';
import { Branch } from './branch.ts';
import { type Counterfactual, type CounterfactualOptions, counterfactual } from './counterfactual.ts';
import { type Edited, edit } from './edit.ts';
import { type Engine, sessionRef } from './engine.ts';
import { type Erased, type EraseOptions, erase } from './erase.ts';
import { type FindOptions, find, findLast } from './find.ts';
import { type ForkOptions, fork } from './fork.ts';
import type { Marked, MarkOptions } from './mark.ts';
import { metadataAt } from './metadata.ts';
import { branchRecord, digestAt, findPlace, pointOf } from './place.ts';
import { redo } from './redo.ts';
import { type ReplayOptions, replay } from './replay.ts';
import { type Reverted, type RevertOptions, revert } from './revert.ts';
import { type RewindOptions, rewind } from './rewind.ts';
import { type SessionJson, sessionJson } from './session-json.ts';
import { type StateAtOptions, stateAt } from './state-at.ts';
import { type BranchNode, branchTree } from './tree.ts';
import { type Verification, type VerifyOptions, verify } from './verify.ts';

/**
 * One tree of history: all branches grown from one beginning. A point is a string such as `main@12`, `@turn:3` or
 * `narrower`, or `{ branch?, seq | turn | run | time }`; without a branch it is on `main`.
 */
export class Session {
  /** The session's id. */
  readonly id: string;
  readonly #engine: Engine;

  constructor(engine: Engine, id: string) {
    this.#engine = engine;
    this.id = id;
  }

  /** Appends events to a branch (`main` if left out), all or nothing, and gives them as stored. */
  append(events: EventDraft | readonly EventDraft[], options: AppendOptions = {}): Promise<readonly Event[]> {
    return append(this.#engine, this.id, events, options);
  }

  /** Reads a history again, in order. */
  replay(options: ReplayOptions = {}): AsyncGenerator<Event, void, undefined> {
    return replay(this.#engine, this.id, options);
  }

  /** The point of the first event that a filter matches. */
  find(filter: EventFilter, options: FindOptions = {}): Promise<Point | undefined> {
    return find(this.#engine, this.id, filter, options);
  }

  /** The point of the last event that a filter matches. */
  findLast(filter: EventFilter, options: FindOptions = {}): Promise<Point | undefined> {
    return findLast(this.#engine, this.id, filter, options);
  }

  /** What a projection gives at a point; with edits or exclusions, what it would give. Writes nothing. */
  stateAt<Value, Result>(
    point: PointInput,
    projection: Projection<Value, Result>,
    options: StateAtOptions = {},
  ): Promise<Result> {
    return stateAt(this.#engine, this.id, point, projection, options);
  }

  /** What a projection would give without some events, what went with them, and how that differs from what it gives. */
  counterfactual<Value, Result>(
    point: PointInput,
    projection: Projection<Value, Result>,
    options: CounterfactualOptions,
  ): Promise<Counterfactual<Result>> {
    return counterfactual(this.#engine, this.id, point, projection, options);
  }

  /** Makes a branch at a point, with optional edits. */
  async fork(point: PointInput, options: ForkOptions = {}): Promise<Branch> {
    const forked = await fork(this.#engine, this.id, point, options);
    return new Branch(this, forked.branch, forked);
  }

  /** A branch by name; `branch.not-found` if there is none. */
  async branch(name: string = mainBranch): Promise<Branch> {
    const record = await branchRecord(this.#engine, this.id, name);
    return new Branch(this, name, {
      head: record.head,
      dependents: [],
      ...(record.parent === undefined ? {} : { parent: record.parent }),
    });
  }

  /** Every branch, as the tree they grew into. */
  tree(): Promise<BranchNode> {
    return branchTree(this.#engine, this.id);
  }

  /** Applies edits to a live branch. */
  edit(branch: PointInput, edits: Edit | readonly Edit[], options: MarkOptions = {}): Promise<Edited> {
    return edit(this.#engine, this.id, branch, edits, options);
  }

  /** Makes the view of a branch an earlier one. */
  rewind(point: PointInput, options: RewindOptions = {}): Promise<Marked> {
    return rewind(this.#engine, this.id, point, options);
  }

  /** Takes the event at a point out of the view. */
  revert(point: PointInput, options: RevertOptions = {}): Promise<Reverted> {
    return revert(this.#engine, this.id, point, options);
  }

  /** Undoes the last rewind, revert or edit of a branch that is still in effect. */
  redo(branch: PointInput = mainBranch, options: MarkOptions = {}): Promise<Marked> {
    return redo(this.#engine, this.id, branch, options);
  }

  /** Forgets a payload for good, wherever the session holds the same content. */
  erase(point: PointInput, options: EraseOptions = {}): Promise<Erased> {
    return erase(this.#engine, this.id, point, options);
  }

  /** How the history behaved up to a point: equal for equal behaviour, whatever the ids and clocks. */
  async fingerprint(point: PointInput = mainBranch): Promise<string> {
    return stateAt(this.#engine, this.id, point, fingerprintProjection(this.#engine.platform.sha256));
  }

  /** Checks every event, part and link of a branch. */
  verify(options: VerifyOptions = {}): Promise<Verification> {
    return verify(this.#engine, this.id, options);
  }

  /** The point a ref or point input means, and its digest. */
  async locate(point: PointInput): Promise<Point & { readonly digest: Digest; readonly head: Seq }> {
    const place = await findPlace(this.#engine, this.id, point);
    return { ...pointOf(place), digest: await digestAt(this.#engine, place), head: place.record.head };
  }

  /** The metadata of a branch (`main` if left out) as it is now. */
  async metadata(branch: PointInput = mainBranch): Promise<JsonObject> {
    return metadataAt(this.#engine, await findPlace(this.#engine, this.id, branch));
  }

  /** Sets metadata keys; null removes one. */
  async setMetadata(set: JsonObject, options: { readonly branch?: string } = {}): Promise<void> {
    await append(this.#engine, this.id, { type: 'metadata.changed', data: { set } }, options);
  }

  /** Deletes every snapshot: nothing but time is lost. */
  dropSnapshots(): Promise<void> {
    return this.#engine.store.dropSnapshots(sessionRef(this.#engine, this.id));
  }

  /** Forgets the whole session; `confirm` must be its id, because this cannot be undone. */
  async delete(options: { readonly confirm: string }): Promise<void> {
    if (options?.confirm !== this.id) {
      throw new RepriseError('session.not-confirmed', `Cannot delete session "${this.id}": it was not confirmed`, {
        hint: `Call delete({ confirm: ${JSON.stringify(this.id)} }). This cannot be undone.`,
      });
    }
    await this.#engine.store.deleteSession(sessionRef(this.#engine, this.id));
    this.#engine.memories.delete(this.id);
  }

  /** The session as one JSON value: every branch with its lineage and its own events, parts inlined. */
  toJSON(): Promise<SessionJson> {
    return sessionJson(this.#engine, this.id);
  }
}
