import { RepriseError } from '../../core/error.ts';
import type { EventDraft } from '../../core/event/event.ts';
import { isStructural } from '../../core/event/families/structural.ts';
import { given, type JsonObject } from '../../core/json.ts';
import { checkKeys, type KnownKeys } from '../../core/known-keys.ts';
import type { AsyncContext, Platform, RequestListener } from '../../core/store/event-store.ts';
import type { ToldData } from './call-data.ts';
import type { RecorderCounts } from './counts.ts';
import { type PreparedEvent, prepareEvent, type ToldEvent } from './draft.ts';
import type { RecorderQueue } from './queue.ts';
import type { RecordOptions } from './record.ts';
import type { TurnClock, TurnLane } from './turn-clock.ts';

/** What code runs inside of: what it records has this as its cause. */
export interface RecorderScope {
  /** The event id of the run, turn, task or call; of what is around it where that was not let in. */
  readonly cause: string | undefined;
  readonly agent?: string | undefined;
  readonly run?: string | undefined;
  /** The turn of a call or of `turn(…)`. */
  readonly turn?: number | undefined;
  /** Whether `turn(…)` gave the turn, so that nothing inside begins another. */
  readonly isTurnGiven?: boolean;
}

/** What a recorder is made of. */
export interface RecorderParts {
  readonly session: string;
  readonly platform: Platform;
  readonly options: RecordOptions;
  readonly counts: RecorderCounts;
  readonly queue: RecorderQueue;
  readonly turns: TurnClock;
  /** What the machine knows of itself; never rejects. */
  readonly facts: Promise<JsonObject>;
}

/** What is told, before the context has added to it. */
export type Telling = Omit<EventDraft, 'data'> & { readonly data?: ToldData };

/** How something is told. */
export interface TellOptions {
  readonly isEnd?: boolean;
  readonly addsFacts?: boolean;
  /** Who it is told by; what the context says if left out. */
  readonly scope?: RecorderScope | undefined;
}

/** Takes in what a recorder is told: adds what the context says, turns it into JSON, masks it, and queues it. */
export class RecorderIntake {
  readonly parts: RecorderParts;
  readonly #context: AsyncContext<RecorderScope>;
  readonly #packages = new Set<string>();
  #isClosed = false;

  constructor(parts: RecorderParts) {
    this.parts = parts;
    this.#context = parts.platform.createContext<RecorderScope>();
  }

  /** What the code that asks runs inside of. */
  get scope(): RecorderScope | undefined {
    return this.#context.get();
  }

  /** Runs code inside of something. */
  within<T>(scope: RecorderScope, body: () => T): T {
    return this.#context.run(scope, body);
  }

  /** Remembers packages that take part. */
  uses(packages: readonly string[]): void {
    for (const name of packages) this.#packages.add(name);
  }

  /** The versions of those packages, as far as they are known, and of what else was said. */
  versionsWith(given: JsonObject | undefined): { readonly versions?: JsonObject } {
    const { platform, options } = this.parts;
    const found = options.facts === false ? [] : [...this.#packages].map((name) => [name, platform.versionOf?.(name)]);
    const known = Object.fromEntries(found.filter(([, version]) => version !== undefined)) as JsonObject;
    const versions = { ...known, ...given };
    return Object.keys(versions).length === 0 ? {} : { versions };
  }

  /** Tells of what is sent by code that runs inside of a scope, and not of one inside of that. */
  watchSent(scope: RecorderScope, told: RequestListener): (() => void) | undefined {
    return this.parts.platform.watchRequests?.((target) => (this.#context.get() === scope ? told(target) : undefined));
  }

  /** From now on, nothing is taken in. */
  close(): void {
    this.#isClosed = true;
  }

  /** Code of the caller's that is asked on the way must not fail the agent. */
  guarded<T>(body: () => T, events = 0): T | undefined {
    try {
      return body();
    } catch (error) {
      this.parts.counts.fail(error, events);
      return undefined;
    }
  }

  /** What is said and nobody reads is not recorded: that is told as what could not be, and the agent goes on. */
  checkTold(told: object, known: KnownKeys): void {
    this.guarded(() => checkKeys(told, known), 1);
  }

  /** Resolves when there is room for what will be told. */
  async room(): Promise<void> {
    if (!this.#isClosed) await this.parts.queue.room();
  }

  /** Whose turns count, for an event of an agent and run of its own or of those around it. */
  laneOf(scope: RecorderScope | undefined, own: TurnLane = {}): TurnLane {
    return { agent: own.agent ?? scope?.agent ?? this.parts.options.agent, run: own.run ?? scope?.run };
  }

  /** Queues an event, and gives the id that is the cause of what happens inside of it. */
  tell(telling: Telling, options: TellOptions = {}): string | undefined {
    const scope = 'scope' in options ? options.scope : this.#context.get();
    const { platform, counts } = this.parts;
    const id = telling.id ?? platform.newId();
    try {
      this.#queue({ ...this.#inContext(telling, scope), id, time: telling.time ?? platform.now() }, options);
      return id;
    } catch (error) {
      counts.fail(error);
      return scope?.cause;
    }
  }

  #inContext(telling: Telling, scope: RecorderScope | undefined): Telling {
    const agent = telling.agent ?? scope?.agent ?? this.parts.options.agent;
    const run = telling.run ?? scope?.run;
    const cause = telling.cause ?? scope?.cause;
    const { turns } = this.parts;
    const turn = telling.turn ?? scope?.turn ?? turns.current({ agent, run }) ?? turns.highest;
    return {
      ...telling,
      ...given({ agent, run, cause }),
      turn,
    };
  }

  #queue(
    telling: Telling & { readonly id: string; readonly time: string },
    { isEnd = false, addsFacts }: TellOptions,
  ): void {
    const { queue, facts } = this.parts;
    this.#checkMayTell(telling, isEnd);
    const told: ToldEvent = { ...telling, data: telling.data ?? {} };
    const isRunEnd = told.type === 'run.ended';
    if (addsFacts !== true) {
      const { draft, units } = this.#prepared(told);
      queue.push({ draft, units, isRunEnd });
      return;
    }
    // What is known of the machine is still being gathered; it is added, and masked, when the event's turn comes.
    const { draft, units, ...problem } = prepareEvent(told, undefined);
    if ('error' in problem) this.parts.counts.fail(problem.error);
    const complete = async (): Promise<typeof draft> =>
      this.#prepared({ ...told, data: withFacts(await facts, draft.data ?? {}) }).draft;
    queue.push({ draft, units, complete });
  }

  #prepared(told: ToldEvent): PreparedEvent {
    const prepared = prepareEvent(told, this.parts.options.mask);
    if ('error' in prepared) this.parts.counts.fail(prepared.error);
    return prepared;
  }

  #checkMayTell({ type }: Telling, isEnd: boolean): void {
    if (this.#isClosed) refuseTelling(type, 'the recorder was closed', 'Close it after the last run has ended.');
    if (isStructural(type))
      refuseTelling(type, 'it changes how history is read', 'Use fork, edit, rewind, revert, redo or erase.');
    this.parts.queue.checkRoom(type, isEnd);
  }
}

function refuseTelling(type: string, why: string, hint: string): never {
  throw new RepriseError('recording.failed', `Cannot record "${type}": ${why}`, { hint, details: { type } });
}

/** What the machine knows of itself, where the run does not say it. */
function withFacts(facts: JsonObject, data: ToldData): ToldData {
  const versions = {
    ...(facts['versions'] as JsonObject | undefined),
    ...(data['versions'] as JsonObject | undefined),
  };
  return { ...facts, ...data, ...(Object.keys(versions).length === 0 ? {} : { versions }) };
}
