import type { BaseCheckpointSaver, CheckpointPendingWrite, CheckpointTuple } from '@langchain/langgraph-checkpoint';
import { INTERRUPT, RESUME } from '@langchain/langgraph-checkpoint';
import { RepriseError } from '../../core/error.ts';
import { propertiesOf } from '../../core/property.ts';
import type { WaitingCall } from '../../core/recording/person-calls.ts';
import { interruptId } from './graph-people.ts';

/** A checkpoint to copy: its place, the thread that gets it, and the questions that the graph asked there. */
export interface CheckpointCopy {
  readonly from: { readonly thread: string; readonly id: string };
  readonly to: Readonly<Record<string, unknown>>;
  readonly questions: readonly WaitingCall[];
}

/**
 * Brings a checkpoint into the thread of a branch as it was when the graph asked, and returns its id. A thread that
 * reads its branch has it already. Answers that the original got since are left out.
 */
export async function copyCheckpoint(
  saver: BaseCheckpointSaver,
  { from, to, questions }: CheckpointCopy,
): Promise<string> {
  const isOwn = to['reprise_branch'] !== undefined && to['thread_id'] === from.thread;
  const place = { configurable: { thread_id: from.thread, checkpoint_ns: '', checkpoint_id: from.id } };
  const found = await saver.getTuple(isOwn ? { configurable: { ...place.configurable, ...to } } : place);
  if (found === undefined) throw missing(from, questions);
  if (isOwn || to['thread_id'] === from.thread) return from.id;
  for await (const tuple of saver.list({ configurable: { thread_id: from.thread } })) {
    const { parents } = propertiesOf(tuple.metadata);
    const isInner = propertiesOf(parents)[''] === from.id;
    if (tuple.checkpoint.id === from.id || isInner) await put(saver, tuple, to, questions);
  }
  return from.id;
}

async function put(
  saver: BaseCheckpointSaver,
  { checkpoint, metadata, pendingWrites = [], config }: CheckpointTuple,
  to: CheckpointCopy['to'],
  questions: readonly WaitingCall[],
): Promise<void> {
  const namespace: unknown = config.configurable?.['checkpoint_ns'] ?? '';
  const place = { ...to, checkpoint_ns: namespace };
  const copied = { source: 'fork' as const, step: -1, parents: {}, ...metadata };
  await saver.put({ configurable: place }, checkpoint, copied, checkpoint.channel_versions);
  for (const [task, writes] of Map.groupBy(pendingWrites, ([held]) => held)) {
    const kept = writesBefore(writes, questions);
    if (kept.length > 0)
      await saver.putWrites({ configurable: { ...place, checkpoint_id: checkpoint.id } }, kept, task);
  }
}

/** LangGraph's id for the writes of no task: with it, it keeps the last answer that names no question. */
const noTask = '00000000-0000-0000-0000-000000000000';

/** Returns the writes of a task as they were when it asked: its question, and the answers to those it asked before. */
function writesBefore(
  writes: readonly CheckpointPendingWrite[],
  questions: readonly WaitingCall[],
): [string, unknown][] {
  const asked = writes.find(([, channel]) => channel === INTERRUPT);
  const ids = asked === undefined ? [] : [asked[2]].flat().map((interrupt) => propertiesOf(interrupt)['id']);
  const question = questions.find(({ call }) => ids.includes(interruptId(call)));
  if (question === undefined)
    return writes.flatMap(([task, channel, value]): [string, unknown][] =>
      task === noTask && channel === RESUME ? [] : [[channel, value]],
    );
  return writes.flatMap(([, channel, value]): [string, unknown][] => {
    if (channel === INTERRUPT) return [[channel, value]];
    const earlier = [value].flat().slice(0, question.earlier);
    return channel === RESUME && earlier.length > 0 ? [[channel, earlier]] : [];
  });
}

function missing({ thread, id }: CheckpointCopy['from'], questions: readonly WaitingCall[]): RepriseError {
  const which = questions.map(({ call }) => call).join(', ');
  return new RepriseError(
    'agent.invalid',
    `Cannot answer ${which}: the saver of the graph has no checkpoint "${id}" in the thread "${thread}"`,
    { hint: 'Use the saver that the graph ran with, or fork before the question, so that the graph asks again.' },
  );
}
