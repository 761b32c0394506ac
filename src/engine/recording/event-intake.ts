import { RepriseError } from '../../core/error.ts';
import type { EventDraft } from '../../core/event/event.ts';
import { isStructural } from '../../core/event/families/structural.ts';
import { given, isObject, type JsonObject } from '../../core/json.ts';
import { checkKeys, checkWhole, type KnownKeys } from '../../core/known-keys.ts';
import { type PreparedEvent, prepareEvent, type ToldData, type ToldEvent } from './prepared-event.ts';
import type { RecorderContext, RecorderScope } from './recorder-scope.ts';
import type { RecorderSetup } from './recorder-setup.ts';

/** An event before the scope has added to it. */
export type Telling = Omit<EventDraft, 'data'> & { readonly data?: ToldData };

/** How the intake takes an event. */
interface TellOptions {
  /** Whether the event ends something that was let in, and so may use the room kept for ends. */
  readonly isEnd?: boolean;
  /** Whether facts about the machine are added to the data. */
  readonly addsFacts?: boolean;
  /** The scope of the event; that of the calling code if left out. */
  readonly scope?: RecorderScope | undefined;
}

/** Takes events in: adds what the scope says, turns the data into JSON, masks it, and queues the event. Never throws. */
export class EventIntake {
  readonly #setup: RecorderSetup;
  readonly #context: RecorderContext;
  #isClosed = false;

  constructor(setup: RecorderSetup, context: RecorderContext) {
    this.#setup = setup;
    this.#context = context;
  }

  /** Refuses every event from now on. */
  close(): void {
    this.#isClosed = true;
  }

  /** Runs code of the caller, which must not fail the agent: an error is reported, with the number of events lost. */
  reporting<T>(body: () => T, eventsLost = 0): T | undefined {
    try {
      return body();
    } catch (error) {
      this.#setup.counts.fail(error, eventsLost);
      return undefined;
    }
  }

  /** Reports a key that nothing reads: it would be dropped silently. The agent continues. */
  reportUnknownKeys(input: object, known: KnownKeys): void {
    checkWhole(input, known);
    this.reporting(() => checkKeys(input, known), 1);
  }

  /** Resolves when the queue has room. */
  async room(): Promise<void> {
    if (!this.#isClosed) await this.#setup.queue.room();
  }

  /** Queues an event and returns its id; if the event is refused, returns the cause of the scope around it. */
  tell(telling: Telling, options: TellOptions = {}): string | undefined {
    const scope = 'scope' in options ? options.scope : this.#context.scope;
    const { platform, counts } = this.#setup;
    const id = telling.id ?? platform.newId();
    try {
      this.#queue({ ...this.#inScope(telling, scope), id, time: telling.time ?? platform.now() }, options);
      return id;
    } catch (error) {
      counts.fail(error);
      return scope?.cause;
    }
  }

  #inScope(telling: Telling, scope: RecorderScope | undefined): Telling {
    const { agent, run } = this.#context.actorIn(scope, telling);
    const cause = telling.cause ?? scope?.cause;
    const { turns } = this.#setup;
    const turn = telling.turn ?? scope?.turn ?? turns.current({ agent, run }) ?? turns.highest;
    return { ...telling, ...given({ agent, run, cause }), turn };
  }

  #queue(
    telling: Telling & { readonly id: string; readonly time: string },
    { isEnd = false, addsFacts }: TellOptions,
  ): void {
    const { queue, facts, counts } = this.#setup;
    this.#checkMayTell(telling, isEnd);
    const told: ToldEvent = { ...telling, data: telling.data ?? {} };
    const isRunEnd = told.type === 'run.ended';
    if (addsFacts !== true) {
      const { draft, units } = this.#prepared(told);
      queue.push({ draft, units, isRunEnd });
      return;
    }
    // The facts are still being gathered; they are added, and masked, when the writer gets to the event.
    const { draft, units, ...problem } = prepareEvent(told, undefined);
    if ('error' in problem) counts.fail(problem.error);
    const complete = async (): Promise<typeof draft> =>
      this.#prepared({ ...told, data: withFacts(await facts, draft.data ?? {}) }).draft;
    queue.push({ draft, units, complete });
  }

  #prepared(told: ToldEvent): PreparedEvent {
    const { options, counts } = this.#setup;
    const prepared = prepareEvent(told, options.mask, (error) => counts.fail(error));
    if ('error' in prepared) counts.fail(prepared.error);
    return prepared;
  }

  #checkMayTell({ type }: Telling, isEnd: boolean): void {
    if (this.#isClosed)
      refuseTelling(type, 'the recorder was closed', 'Close the recorder after the last run has ended.');
    if (isStructural(type))
      refuseTelling(type, 'it changes how history is read', 'Use fork, edit, rewind, revert, redo or erase.');
    this.#setup.queue.checkRoom(type, isEnd);
  }
}

function refuseTelling(type: string, why: string, hint: string): never {
  throw new RepriseError('recording.failed', `Cannot record "${type}": ${why}`, { hint, details: { type } });
}

/** Adds facts about the machine to the data of a run that does not say them itself. */
function withFacts(facts: JsonObject, data: ToldData): ToldData {
  const versions = { ...objectOrNone(facts['versions']), ...objectOrNone(data['versions']) };
  return { ...facts, ...data, ...(Object.keys(versions).length === 0 ? {} : { versions }) };
}

const objectOrNone = (value: unknown): JsonObject => (isObject(value) ? value : {});
