import type { Event, EventDraft } from '../core/event/event.ts';
import type { Projection } from '../core/event/projection.ts';
import type { Point, Seq } from '../core/point.ts';
import type { Agent } from '../core/recording/agent.ts';
import type { Edit } from '../core/view/edit.ts';
import { type AppendOptions, optionsOn } from './changing/append.ts';
import type { Edited } from './changing/edit.ts';
import type { Marked, MarkOptions } from './changing/mark.ts';
import type { Replay, ReplayOptions } from './looking/replay.ts';
import type { StateAtOptions } from './looking/state-at.ts';
import type { Verification } from './proving/verify.ts';
import type { RecordOptions } from './recording/record-options.ts';
import type { SessionRecorder } from './recording/recorder.ts';
import type { ResumeOptions, ResumeResult } from './resuming/resume.ts';
import type { Session } from './session.ts';
import type { StateHandle } from './state/state-handle.ts';

/** One line of events in a session: every verb of the session, on this branch. */
export class Branch {
  readonly session: Session;
  readonly name: string;
  /** The point it was forked at; undefined for the branch the session began with. */
  readonly parent: Point | undefined;
  /** Its last seq when this object was made. */
  readonly head: Seq;
  /** What its edits left in place although it depended on what they took out. */
  readonly dependents: readonly Seq[];

  constructor(
    session: Session,
    name: string,
    from: { readonly parent?: Point; readonly head: Seq; readonly dependents: readonly Seq[] },
  ) {
    this.session = session;
    this.name = name;
    this.parent = from.parent;
    this.head = from.head;
    this.dependents = from.dependents;
  }

  /**
   * Appends events to this branch.
   *
   * @example
   * ```ts
   * await branch.append({ type: 'note.added', data: { text: 'Only on this branch.' } });
   * ```
   */
  async append(
    events: EventDraft | readonly EventDraft[],
    options: Omit<AppendOptions, 'branch'> = {},
  ): Promise<readonly Event[]> {
    return this.session.append(events, optionsOn(this.name, options));
  }

  /**
   * Begins to record what code does, on this branch.
   *
   * @example
   * ```ts
   * await using recorder = await branch.record({ agent: 'support' });
   * recorder.message({ role: 'user', content: 'Please look again.' });
   * ```
   */
  record(options: Omit<RecordOptions, 'branch'> = {}): Promise<SessionRecorder> {
    return this.session.record({ ...options, branch: this.name });
  }

  /**
   * Reads this branch's history again, up to its head.
   *
   * @example
   * ```ts
   * for await (const event of branch.replay({ after: branch.parent?.seq ?? 0 })) console.log(event.type);
   * ```
   */
  replay(options: Omit<ReplayOptions, 'at'> = {}): Replay {
    return this.session.replay({ ...options, at: { branch: this.name } });
  }

  /**
   * What a projection gives at the head of this branch.
   *
   * @example
   * ```ts
   * const { system } = await branch.project(conversation); // 'Look the order up first.'
   * ```
   */
  project<Value, Result>(projection: Projection<Value, Result>, options: StateAtOptions = {}): Promise<Result> {
    return this.session.stateAt({ branch: this.name }, projection, options);
  }

  /**
   * The state of the agent `default` on this branch.
   *
   * @example
   * ```ts
   * await branch.state.as('support').transaction((tx) => tx.write('plan', 'ask'));
   * ```
   */
  get state(): StateHandle {
    return this.session.state.on(this.name);
  }

  /**
   * Applies edits to this branch.
   *
   * @example
   * ```ts
   * await branch.edit({ kind: 'model', model: 'large-1' });
   * ```
   */
  edit(edits: Edit | readonly Edit[], options: MarkOptions = {}): Promise<Edited> {
    return this.session.edit({ branch: this.name }, edits, options);
  }

  /**
   * Undoes the last rewind, revert or edit of this branch that is still in effect.
   *
   * @example
   * ```ts
   * await branch.edit({ kind: 'drop', seq: 1 });
   * await branch.redo();
   * ```
   */
  redo(options: MarkOptions = {}): Promise<Marked> {
    return this.session.redo({ branch: this.name }, options);
  }

  /**
   * Continues this branch live on an agent: a function of the context, or what an adapter makes of a framework's own.
   * The history is handed over as it is on this branch, mended where a provider would refuse it; what happens is
   * recorded here, and the branch it was forked from is left alone.
   *
   * @example
   * ```ts
   * const { result, lineage, reused } = await branch.resume(async ({ messages, prompt, system }) => {
   *   return `${system} ${messages.length} messages before "${prompt?.content}".`;
   * });
   * ```
   */
  resume<Run, Result>(
    agent: Agent<Run, Result>,
    options: ResumeOptions<NoInfer<Run>> = {},
  ): Promise<ResumeResult<Result>> {
    return this.session.resume({ branch: this.name }, agent, options);
  }

  /**
   * How this branch behaved.
   *
   * @example
   * ```ts
   * const changed = (await branch.fingerprint()) !== (await session.fingerprint());
   * ```
   */
  fingerprint(): Promise<string> {
    return this.session.fingerprint({ branch: this.name });
  }

  /**
   * Checks every event of this branch.
   *
   * @example
   * ```ts
   * const { ok, events } = await branch.verify();
   * ```
   */
  verify(options: { readonly head?: string } = {}): Promise<Verification> {
    return this.session.verify({ ...options, at: { branch: this.name } });
  }
}
