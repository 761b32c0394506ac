import { BoundedMap } from '../../core/bounded-map.ts';
import { given, isObject, type JsonValue, stringAt } from '../../core/json.ts';
import { toolCallsIn, toolResultsIn } from '../../core/message/message.ts';
import { propertiesOf } from '../../core/property.ts';
import { recorderHere } from '../../core/recording/current-recorder.ts';
import { approvalCall, approvalName, type WaitingCall } from '../../core/recording/person-calls.ts';
import { plainJson } from '../../core/recording/plain-json.ts';
import type { Recorder } from '../../core/recording/recorder.ts';
import { outcomeOfThrown } from './graph-signals.ts';
import { messagesIn } from './neutral-message.ts';

/** A question of a graph: the value given to `interrupt()`. */
export interface GraphInterrupt {
  readonly id?: string;
  readonly value?: unknown;
}

/** The pause of a graph, as LangGraph reports it. */
export interface GraphInterruptEvent {
  readonly runId: string | undefined;
  readonly checkpointId: string;
  readonly interrupts: readonly GraphInterrupt[];
}

/** An outermost run. */
interface GraphRun {
  readonly thread: string | undefined;
  /** The checkpoint of a pause without a question: `interruptBefore` and `interruptAfter`. */
  pausedAt?: string;
  /** Interrupts that nodes raised, and whether LangGraph reported them. */
  readonly raised: GraphInterrupt[];
  isReported: boolean;
}

/** How many outermost runs may be open at a time. */
const openMax = 10_000;

/** The name of the question that an interrupt is. */
const interruptName = 'interrupt';

/** Returns the id of the question of an interrupt. */
const interruptCall = (id: string): string => `${interruptName}:${id}`;

/** Returns LangGraph's own id of an interrupt, from the id of its question. */
export const interruptId = (call: string): string => call.slice(interruptCall('').length);

/** Returns true if a graph asked a question by `interruptBefore` or `interruptAfter`, which takes no answer. */
export const isPause = ({ call, saved }: WaitingCall): boolean =>
  call === interruptCall(stringAt(saved, 'saved') ?? '');

/** Records the questions of a graph to people, and the answers with which a program lets it continue. */
export class GraphPeople {
  readonly #own: Recorder;
  readonly #options: { readonly isInRun: boolean; readonly agent?: string };
  readonly #runs = new BoundedMap<string, GraphRun>(openMax);
  /** Tool calls that wait for an approval, which is granted when the tool is called. */
  readonly #approvals = new Set<string>();

  /** `isInRun` says that a resume records the answers itself. */
  constructor(recorder: Recorder, options: { readonly isInRun: boolean; readonly agent?: string }) {
    this.#own = recorder;
    this.#options = options;
  }

  get #recorder(): Recorder {
    return recorderHere(this.#own);
  }

  /** Begins an outermost run. */
  begin(runId: string, thread: unknown): void {
    this.#runs.set(runId, { thread: typeof thread === 'string' ? thread : undefined, raised: [], isReported: false });
  }

  /** Records what the input of a run answers of what waits. */
  async answered(runId: string, inputs: unknown): Promise<void> {
    if (this.#options.isInRun) return;
    const known = this.#runs.get(runId)?.thread;
    const { lg_name: name, resume, input } = propertiesOf(inputs);
    if (name !== 'Command' && input !== null) return;
    const waiting = (await this.#recorder.waiting()).filter(
      ({ saved, about }) => about !== null || stringAt(saved, 'thread') === known,
    );
    for (const { about } of waiting) if (about !== null) this.#approvals.add(about);
    if (name === 'Command' && resume !== undefined) await this.#answer(waiting, resume);
    else for (const question of waiting) if (isPause(question)) await this.#recorder.answer(question.call, null);
  }

  /** Notes an interrupt that a node raised, for versions of LangGraph that do not report it. */
  raised(parentRunId: string | undefined, error: unknown): void {
    const run = parentRunId === undefined ? undefined : this.#runs.get(parentRunId);
    if (run === undefined || outcomeOfThrown(error) !== 'waiting') return;
    const { interrupts } = propertiesOf(error);
    if (Array.isArray(interrupts)) run.raised.push(...interrupts);
  }

  /** Records the questions of a graph that paused. */
  async interrupted({ runId = '', checkpointId, interrupts }: GraphInterruptEvent): Promise<void> {
    const run = this.#runs.get(runId);
    if (run === undefined) return;
    run.isReported = true;
    if (interrupts.length === 0) run.pausedAt = checkpointId;
    else await this.#ask(run, interrupts, checkpointId);
  }

  /** Records, at the end of a run, the questions that were not reported and the calls that a pause holds back. */
  async end(runId: string, outputs: unknown): Promise<void> {
    const run = this.#runs.get(runId);
    if (run === undefined) return;
    if (!run.isReported && run.raised.length > 0) await this.#ask(run, run.raised, undefined);
    if (run.pausedAt === undefined) return;
    const saved = savedAt(run, run.pausedAt);
    const pending = pendingCalls(outputs);
    for (const { call, name, input } of pending) {
      await this.#recorder.ask({
        name: approvalName,
        about: call,
        input: { call, name, input },
        ...this.#named(),
        ...saved,
      });
    }
    if (pending.length === 0)
      await this.#recorder.ask({ name: interruptName, call: interruptCall(run.pausedAt), ...this.#named(), ...saved });
  }

  /** Records that a call was approved: it is made. */
  async made(call: string | undefined): Promise<void> {
    if (call !== undefined && this.#approvals.delete(call))
      await this.#recorder.answer(approvalCall(call), { approved: true });
  }

  /** Forgets a run that is over. */
  forget(runId: string): void {
    this.#runs.delete(runId);
  }

  async #ask(run: GraphRun, interrupts: readonly GraphInterrupt[], checkpoint: string | undefined): Promise<void> {
    for (const { id, value } of interrupts) {
      const call = given({ call: id === undefined ? undefined : interruptCall(id) });
      const input = plainJson(value);
      await this.#recorder.ask({ name: interruptName, ...call, input, ...this.#named(), ...savedAt(run, checkpoint) });
    }
  }

  /** Records the answers of a command: by the ids of interrupts, or one for the first that waits. */
  async #answer(waiting: readonly WaitingCall[], resume: unknown): Promise<void> {
    const said: JsonValue = plainJson(resume);
    const questions = waiting.filter(({ name }) => name === interruptName);
    const ids = isObject(said) ? Object.keys(said) : [];
    const isById = ids.length > 0 && ids.every((id) => /^[0-9a-f]{32}$/.test(id));
    const answers = isById && isObject(said) ? said : {};
    for (const { call } of questions) {
      const answer = answers[interruptId(call)];
      if (answer !== undefined) await this.#recorder.answer(call, answer);
    }
    const [first] = questions;
    if (!isById && first !== undefined) await this.#recorder.answer(first.call, said);
  }

  #named(): { readonly agent?: string } {
    return given({ agent: this.#options.agent });
  }
}

const savedAt = ({ thread }: GraphRun, checkpoint: string | undefined) =>
  thread === undefined || checkpoint === undefined ? {} : { saved: { thread, saved: checkpoint } };

/** Returns the tool calls of the last answer that have no result. */
function pendingCalls(
  outputs: unknown,
): readonly { readonly call: string; readonly name: string; readonly input: JsonValue }[] {
  const messages = messagesIn(outputs);
  const last = messages.findLastIndex(({ role }) => role === 'assistant');
  const answered = new Set(
    messages.slice(last + 1).flatMap((message) => toolResultsIn(message).map(({ toolCallId }) => toolCallId)),
  );
  const asked = messages[last];
  return (asked === undefined ? [] : toolCallsIn(asked))
    .filter(({ toolCallId }) => !answered.has(toolCallId))
    .map(({ toolCallId, toolName, input }) => ({ call: toolCallId, name: toolName, input }));
}
