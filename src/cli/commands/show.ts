import { Option } from 'commander';
import type { Event } from '../../core/event/event.ts';
import { beginning, type Seq } from '../../core/point.ts';
import { type Ref, refText } from '../../core/ref.ts';
import { historyFacts } from '../../reading/history-facts.ts';
import { eventAt, type Known, knownAt } from '../../reading/known-at.ts';
import type { CommandSpec } from '../command.ts';
import type { Context } from '../context.ts';
import { done } from '../exit-code.ts';
import { headerLines } from '../render/history-header.ts';
import { eventLines, knownLines } from '../render/known-lines.ts';
import { resumableLines } from '../render/resumable-lines.ts';

/** `reprise show`. */
export const show: CommandSpec = {
  arguments: [{ name: '<ref>', about: 'the point: session[/branch]@at' }],
  options: [
    new Option('--full', 'everything, nothing folded'),
    new Option('--resume', 'what a resume there would hand to the agent; nothing is run'),
  ],
  examples: [
    'reprise show latest@14',
    'reprise show demo/careful@before:20 --full',
    'reprise show demo@turn:3 --json',
    'reprise show demo/careful --resume',
  ],
  run: async (context, [text = 'latest'], options) => {
    const { out } = context;
    const { session, ref, point } = await context.at(text);
    const isFull = options['full'] === true;
    if (options['resume'] === true) return showResume(context, text, isFull);
    if (out.json === undefined) {
      // Both are there at once; what the agent knew may have to be folded from a long history.
      await out.lines(headerLines(out, session.id, await historyFacts(session, ref.branch, point)));
      await out.lines(eventLines(out, await eventAt(session, point), isFull));
      await out.flush();
    }
    // The conversation and the state are folded; the summary is there.
    out.progress.begin('show', 2 * (await session.locate(point)).seq);
    const known = await knownAt(session, ref.branch, point);
    out.progress.end();
    if (out.json !== undefined) await out.value(shapeOf(ref, known));
    else {
      await out.lines(knownLines(out, known, isFull));
      out.next(...forkCommands(ref, known));
    }
    return done;
  },
};

/** What a resume at a point hands over, and how to do it. */
async function showResume(context: Context, text: string, isFull: boolean): Promise<number> {
  const { out } = context;
  const { session, ref, point } = await context.at(text);
  const handed = await session.resumable(point);
  if (out.json !== undefined) await out.value(handed);
  else {
    await out.lines(resumableLines(out, handed, isFull));
    const { session: id, branch } = ref;
    out.next(
      ref.at.kind === 'head' ? `reprise resume ${refText({ session: id, branch })}` : `reprise fork ${handed.ref}`,
    );
  }
  return done;
}

function shapeOf(ref: Ref, { event, seen, others, state, changes, usage, metadata }: Known): Record<string, unknown> {
  const { messages, openCalls, ...about } = seen;
  return {
    ref: refText(ref),
    event: event ?? null,
    messages,
    state,
    calls: openCalls,
    usage,
    changes,
    ...about,
    others,
    metadata,
  };
}

/** How to go on from here with something changed, and how from just before. */
function forkCommands({ session, branch }: Ref, { event, seen }: Known): string[] {
  const seq = event?.seq ?? beginning;
  const at = (kind: 'seq' | 'before', place: Seq): string => refText({ session, branch, at: { kind, seq: place } });
  const change = seen.messages.length > 0 ? '--prompt' : '--system';
  if (event === undefined) return [`reprise fork ${at('seq', seq)} ${change} "…"`];
  // At a tool call the model has decided: a fork here makes the call, and one before the decision asks the model again.
  if (isToolCall(event) && seen.calledAt !== null) {
    const answer = `reprise fork ${at('seq', seq)} --tool-result ${seq}=FILE`;
    return [`reprise fork ${at('before', seen.calledAt)} ${change} "…"`, answer];
  }
  return [`reprise fork ${at('seq', seq)} ${change} "…"`, `reprise fork ${at('before', seq)} --model "…"`];
}

const isToolCall = ({ type, data }: Event): boolean =>
  (type === 'call.started' || type === 'call.ended') && data['kind'] !== 'model';
