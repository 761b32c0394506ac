import { canonicalJson } from '../../core/canonical-json.ts';
import { checkId } from '../../core/id.ts';
import { given, type JsonValue } from '../../core/json.ts';
import { approvalCall, approvalName, type PersonAnswer, type WaitingCall } from '../../core/recording/person-calls.ts';
import type { Question } from '../../core/recording/recorder.ts';
import type { EventIntake } from './event-intake.ts';
import { inputKeys } from './input-keys.ts';
import type { RecorderContext } from './recorder-scope.ts';
import type { RecorderSetup } from './recorder-setup.ts';

/** Records questions to people and their answers. */
export class PersonRecorder {
  readonly #setup: RecorderSetup;
  readonly #context: RecorderContext;
  readonly #intake: EventIntake;
  /** The unanswered questions of each run. */
  readonly #asked = new Map<string | undefined, Map<string, string>>();

  constructor(setup: RecorderSetup, context: RecorderContext, intake: EventIntake) {
    this.#setup = setup;
    this.#context = context;
    this.#intake = intake;
  }

  /** Asks a person: returns the answer if there is one, else records the question, unless it waits already. */
  async ask(question: Question): Promise<JsonValue | undefined> {
    this.#intake.reportUnknownKeys(question, inputKeys.question);
    // A graph that stops to ask has not found an answer.
    const known = question.saved === undefined ? this.#setup.answers : [];
    const answered = known.find((answer) => isSame(answer, question));
    if (answered !== undefined) return answered.output;
    const { name, about, input, agent, saved } = question;
    const { agent: asking = null } = this.#context.actorIn(this.#context.scope, given({ agent }));
    const isOwn = (waiting: WaitingCall): boolean =>
      waiting.agent === null || asking === null || waiting.agent === asking;
    const open = (await this.#known()).find((waiting) => isOwn(waiting) && isSame(waiting, question));
    const call = open?.call ?? idOf(question) ?? this.#setup.platform.newId();
    if (open === undefined) {
      await this.#intake.room();
      const data = { call, kind: 'person', name, effect: 'pure', input, about, saved };
      this.#intake.tell({ type: 'call.started', ...given({ agent }), data });
    }
    this.#openIn(this.#context.scope?.run).set(call, name);
    return undefined;
  }

  /** Records the answer to a question. */
  async answer(call: string, output: JsonValue): Promise<void> {
    checkId('call', call);
    const { scope } = this.#context;
    const name = this.#nameOf(call) ?? (await this.#known()).find((waiting) => waiting.call === call)?.name;
    for (const questions of this.#asked.values()) questions.delete(call);
    await this.#intake.room();
    const data = { call, kind: 'person', name: name ?? 'question', outcome: 'ok', output };
    this.#intake.tell({ type: 'call.ended', data }, { isEnd: true, scope });
  }

  /** Returns what a question asks for, as far as this recorder knows without reading the log. */
  #nameOf(call: string): string | undefined {
    if (call.startsWith(approvalCall(''))) return approvalName;
    return [...this.#asked.values()].find((questions) => questions.has(call))?.get(call);
  }

  /** Returns what waits on the branch. */
  async waiting(): Promise<readonly WaitingCall[]> {
    return this.#setup.waiting();
  }

  /** Returns what waits on the branch; nothing, and a report, if the log cannot be read: the agent continues. */
  async #known(): Promise<readonly WaitingCall[]> {
    try {
      return await this.waiting();
    } catch (error) {
      this.#setup.counts.fail(error, 0);
      return [];
    }
  }

  /** Returns true if a person was asked in a run and has not answered. */
  isWaiting(run: string): boolean {
    return (this.#asked.get(run)?.size ?? 0) > 0;
  }

  #openIn(run: string | undefined): Map<string, string> {
    const known = this.#asked.get(run) ?? new Map<string, string>();
    this.#asked.set(run, known);
    return known;
  }

  /** Forgets the questions of a run that has ended. */
  forget(run: string): void {
    this.#asked.delete(run);
  }
}

const idOf = ({ call, name, about }: Question): string | undefined =>
  call ?? (about === undefined ? undefined : `${name}:${about}`);

/** Returns true if two questions are the same: by id, else by name and what is shown. */
function isSame(known: WaitingCall | PersonAnswer, question: Question): boolean {
  const id = idOf(question);
  if (id !== undefined) return known.call === id;
  return known.name === question.name && canonicalJson(known.input) === canonicalJson(question.input ?? null);
}
