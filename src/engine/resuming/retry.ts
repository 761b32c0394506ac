import { RepriseError } from '../../core/error.ts';
import type { Event } from '../../core/event/event.ts';
import { given, type JsonObject } from '../../core/json.ts';
import { checkKeys, type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import { partsOf, textOf } from '../../core/message/message.ts';
import { previous, type Seq } from '../../core/point.ts';
import type { Agent } from '../../core/recording/agent.ts';
import { pointText, refText } from '../../core/ref.ts';
import type { Edit } from '../../core/view/edit.ts';
import { conversation, lastUserMessage } from '../../projections/conversation.ts';
import { fork } from '../changing/fork.ts';
import type { Engine } from '../context/engine.ts';
import { foldAt } from '../history/fold.ts';
import { type Place, placeAt, placeAtHead, placeOn, refOfPlace } from '../history/place.ts';
import { type Comparison, compare } from '../looking/compare.ts';
import { replay } from '../looking/replay.ts';
import { checkLimits, type ResumeOptions, type ResumeResult, resumeOptionNames, settleResume } from './resume.ts';
import { claimTask, endOfRun, endTask, type RetriedTask, resultText, unbegun } from './retried-task.ts';

/** How to retry. */
export interface RetryOptions<Run = unknown> extends Omit<ResumeOptions<Run>, 'prompt' | 'userTurns'> {
  /** The id of the task to retry, instead of a run. */
  readonly task?: string;
  /** A different model. */
  readonly model?: string;
  /** Text to add to the prompt. */
  readonly extraContext?: string;
  /** The new branch; a free name is chosen if left out. */
  readonly name?: string;
  readonly reason?: string;
}

const { prompt: _prompt, userTurns: _userTurns, ...resumeNames } = resumeOptionNames;
const retryKeys: KnownKeys = optionKeys<RetryOptions>('retry', {
  ...resumeNames,
  task: 'text',
  model: 'text',
  extraContext: 'text',
  name: 'text',
  reason: 'text',
});

/** The report of a retry, and how it differs from the first attempt. */
export interface RetryResult<Result = unknown> extends ResumeResult<Result> {
  /** The run or task that was retried, as the original has it. */
  readonly original: {
    readonly ref: string;
    readonly run: string | null;
    readonly task: string | null;
    /** The result that its end states, as text; if it states none, the last text of a model. */
    readonly text: string;
  };
  readonly diff: Comparison;
}

/** The run or task to retry: where it began and, if it did, where it ended. */
interface Tried {
  readonly place: Place;
  readonly started: Event;
  readonly end: Seq;
  readonly run: string | null;
  readonly task: string | null;
  /** Its first model call; undefined if it made none. */
  readonly asked: Event | undefined;
  /** Who took the task first, and where; undefined if none did. */
  readonly claimed: Event | undefined;
  /** Its result as its end states it, else the last text of a model. */
  readonly text: string;
  readonly isStated: boolean;
}

/** A place, and the run of its branch to retry; the run that is open there if none is named. */
export interface RetryPlace {
  readonly place: Place;
  readonly run?: string;
}

/** Retries a run or a task from its beginning, on a new branch, with the same prompt and the extra context. */
export async function retry<Run, Result>(
  engine: Engine,
  what: RetryPlace,
  agent: Agent<Run, Result>,
  options: RetryOptions<Run> = {},
): Promise<RetryResult<Result>> {
  checkKeys(options, retryKeys);
  checkLimits(options);
  const { task: asked, model, extraContext, name, reason, ...rest } = options;
  const tried = await findTried(engine, what, asked);
  const { session } = what.place;
  const { at, edits, prompt } = await beginningOf(engine, tried, extraContext);
  const { record } = tried.place;
  const which = tried.task === null ? `run ${tried.run ?? ''}`.trim() : `task ${tried.task}`;
  const { branch } = await fork(
    engine,
    { place: { ...tried.place, seq: at } },
    {
      ...given({ name }),
      reason: reason ?? `retry of ${which}`,
      ...given({ model }),
      edits,
    },
  );
  const task = retriedTask(tried, session, rest.agentName ?? nameOf(agent));
  if (task !== undefined && !isClaimed(tried, { at, agent: task.agent, model }))
    await claimTask(engine, branch, task, model);
  const target = { session, branch, continues: tried.asked?.run, cause: task?.cause };
  const resumed = await settleResume(engine, target, agent, { ...rest, ...given({ prompt }) }).catch(
    async (error: unknown) => {
      if (task !== undefined) await endTask(engine, branch, task, unbegun(error));
      throw error;
    },
  );
  const { result, error } = await endOfRun(engine, session, resumed.branch, resumed.runs.at(-1));
  const { outcome, text, cost } = resumed;
  if (task !== undefined) {
    const end = { outcome, error, cost: cost ?? undefined, result: result ?? (text === '' ? undefined : text) };
    await endTask(engine, resumed.branch, task, end);
  }
  if ('error' in resumed) throw resumed.error;
  const original = await placeAt(engine, session, record.branch, { kind: 'seq', seq: tried.end });
  const diff = await compare(engine, original, await placeAtHead(engine, session, resumed.branch));
  return {
    ...resumed,
    text: resultText(result) ?? text,
    original: { ref: refText(refOfPlace(original)), run: tried.run, task: tried.task, text: tried.text },
    diff,
  };
}

/** Returns the task to try again, and who takes it: the given agent, else the one that did the first time. */
function retriedTask(
  { task, started, claimed, asked }: Tried,
  session: string,
  name: string | undefined,
): RetriedTask | undefined {
  if (task === null) return undefined;
  return { session, task, cause: started.id, agent: name ?? claimed?.agent ?? asked?.agent ?? started.agent };
}

/** Whether the view at the fork already says that this agent took the task, with the model it has now. */
function isClaimed(
  { claimed }: Tried,
  { at, agent, model }: { readonly at: Seq; readonly agent: string | undefined; readonly model: string | undefined },
): boolean {
  if (claimed === undefined || claimed.seq > at || claimed.agent !== agent) return false;
  return model === undefined || claimed.data['model'] === model;
}

const nameOf = <Run, Result>(agent: Agent<Run, Result>): string | undefined =>
  typeof agent === 'function' ? undefined : agent.name;

function refuse(what: string, why: string): never {
  throw new RepriseError('point.out-of-range', `Cannot retry ${JSON.stringify(what)}: ${why}`, {
    hint: 'List the runs with the "runs" projection; name one with "@run:ID", or a task with { task }.',
  });
}

function refuseBoth(run: string, task: string): never {
  throw new RepriseError(
    'option.invalid',
    `Cannot retry task ${JSON.stringify(task)} at run:${run}: they are two places`,
    {
      hint: 'Name a run or a task.',
    },
  );
}

async function findTried(engine: Engine, { place, run }: RetryPlace, task: string | undefined): Promise<Tried> {
  // A run may continue after the place.
  const head = placeOn(place.session, place.record);
  if (task !== undefined) {
    if (run !== undefined) refuseBoth(run, task);
    return triedTask(engine, head, task);
  }
  const open = run ?? (await runAt(engine, place));
  if (open !== undefined) return triedRun(engine, head, open);
  return refuse(
    pointText({ branch: place.record.branch, at: { kind: 'seq', seq: place.seq } }),
    'there is no run there',
  );
}

/** Finds the run that is open at a place: that of the last event with a run. A resume is a separate run. */
async function runAt(engine: Engine, place: Place): Promise<string | undefined> {
  for await (const { run } of replay(engine, place, { direction: 'backward' })) if (run !== undefined) return run;
  return undefined;
}

async function triedRun(engine: Engine, place: Place, run: string): Promise<Tried> {
  let tried: Tried | undefined;
  for await (const event of replay(engine, place, { filter: { run } })) {
    tried = noted(
      tried ?? {
        place,
        started: event,
        end: event.seq,
        run,
        task: null,
        asked: undefined,
        claimed: undefined,
        text: '',
        isStated: false,
      },
      event,
    );
  }
  return tried ?? refuse(`run:${run}`, `no event of "${place.record.branch}" carries that run`);
}

/** Finds a task and everything it caused, by causes: other tasks may run at the same time. */
async function triedTask(engine: Engine, place: Place, task: string): Promise<Tried> {
  let tried: Tried | undefined;
  const inside = new Set<string>();
  for await (const event of replay(engine, place)) {
    const isIt = event.data['task'] === task;
    if (tried === undefined) {
      if (event.type !== 'task.started' || !isIt) continue;
      tried = {
        place,
        started: event,
        end: event.seq,
        run: null,
        task,
        asked: undefined,
        claimed: undefined,
        text: '',
        isStated: false,
      };
    } else if (!isIt && (event.cause === undefined || !inside.has(event.cause))) continue;
    inside.add(event.id);
    tried = noted(tried, event);
    if (event.type === 'task.ended' && isIt) break;
  }
  return tried ?? refuse(`task:${task}`, `no task of "${place.record.branch}" has that id`);
}

function noted(tried: Tried, event: Event): Tried {
  const { type, data } = event;
  const isModel = data['kind'] === 'model';
  const isEnd = tried.task === null ? type === 'run.ended' : type === 'task.ended' && data['task'] === tried.task;
  const stated = isEnd ? resultText(data['result']) : undefined;
  const said = type === 'call.ended' && isModel && !tried.isStated ? textOf(data['message'] ?? null) : '';
  return {
    ...tried,
    end: event.seq,
    ...(type === 'call.started' && isModel && tried.asked === undefined ? { asked: event } : {}),
    ...(type === 'task.claimed' && tried.claimed === undefined ? { claimed: event } : {}),
    ...(said === '' ? {} : { text: said }),
    ...(stated === undefined ? {} : { text: stated, isStated: true }),
  };
}

/**
 * Finds the point where the prompt is given and no model has been called. If only the first model call has the
 * prompt, that is the start of this call; the branch then holds a start without an end.
 */
async function beginningOf(
  engine: Engine,
  tried: Tried,
  extraContext: string | undefined,
): Promise<{ readonly at: Seq; readonly edits: readonly Edit[]; readonly prompt?: string }> {
  const { place, started, asked, task } = tried;
  const points = asked === undefined ? [tried.end] : [previous(asked.seq), asked.seq];
  for (const at of points) {
    const seen = await foldAt(engine, { ...place, seq: at }, conversation, false);
    const own = asked?.run === undefined ? undefined : seen.lanes.find(({ run }) => run === asked.run);
    const found = lastUserMessage(own ?? seen);
    if (found?.isLast !== true) continue;
    const message = withText(found.message, extraContext);
    return { at, edits: message === undefined ? [] : [{ kind: 'message', seq: found.seq, message }] };
  }
  const prompt = task === null ? undefined : started.data['prompt'];
  if (typeof prompt === 'string')
    return { at: started.seq, edits: [], prompt: extraContext === undefined ? prompt : `${prompt}\n\n${extraContext}` };
  return refuse(task === null ? `run:${tried.run}` : `task:${task}`, 'it has no prompt');
}

/** Returns a user message with text added as a new paragraph. */
function withText(message: JsonObject, extra: string | undefined): JsonObject | undefined {
  if (extra === undefined || extra === '') return undefined;
  if (typeof message['content'] === 'string') return { ...message, content: `${message['content']}\n\n${extra}` };
  return { ...message, content: [...partsOf(message), { type: 'text', text: `\n\n${extra}` }] };
}
