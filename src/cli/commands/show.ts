import { Option } from 'commander';
import type { Event } from '../../core/event/event.ts';
import { beginning, type Seq } from '../../core/point.ts';
import { type Ref, refText } from '../../core/ref.ts';
import type { Known } from '../../engine/known.ts';
import { historyFacts } from '../../reading/answers/history-facts.ts';
import { eventAt, showAnswer } from '../../reading/answers/show-answer.ts';
import { eventsUpTo, type OpenRef } from '../../reading/open-ref.ts';
import type { CommandSpec } from '../command.ts';
import type { Context } from '../context.ts';
import { done } from '../exit-code.ts';
import { flagOption, textOption } from '../option-values.ts';
import { decideCommands } from '../render/decide-commands.ts';
import { headerLines } from '../render/history-header.ts';
import { agentLines, eventLines, knownLines } from '../render/known-lines.ts';
import { resumableLines } from '../render/resumable-lines.ts';
import { quoted } from '../typed.ts';

/** `reprise show`. */
export const show: CommandSpec = {
  arguments: [{ name: '<ref>', about: 'point: session[/branch]@at' }],
  options: [
    new Option('--full', 'show everything in full'),
    new Option('--as <agent>', 'show what this agent knew: its scope, beliefs, state and messages').conflicts('resume'),
    new Option('--resume', 'show what a resume there would hand to the agent; runs nothing'),
  ],
  examples: [
    'reprise show latest@14',
    'reprise show demo/careful@before:20 --full',
    'reprise show demo@turn:3 --json',
    'reprise show demo@turn:3 --as support',
    'reprise show demo/careful --resume',
  ],
  run: async (context, [text = 'latest'], options) => {
    const { out } = context;
    const found = await context.at(text);
    const { session, ref, point } = found;
    const isFull = flagOption(options, 'full');
    const as = textOption(options, 'as');
    if (as !== undefined) return showAs(context, found, as, isFull);
    if (flagOption(options, 'resume')) return showResume(context, found, isFull);
    if (out.json === undefined) {
      // Both are quick to read; the knowledge of the agent may have to be folded from a long history.
      await out.lines(headerLines(out, session.id, await historyFacts(found)));
      await out.lines(eventLines(out, await eventAt(session, point), isFull));
      await out.flush();
    }
    // Both the conversation and the state are folded.
    out.progress.begin('show', 2 * eventsUpTo(found));
    const known = await found.session.at(found.point).known();
    out.progress.end();
    if (out.json !== undefined) await out.value(showAnswer(found, known));
    else {
      await out.lines(knownLines(out, known, isFull));
      out.next(
        ...decideCommands(refText({ session: ref.session, branch: ref.branch }), known.waiting),
        ...forkCommands(ref, known),
      );
    }
    return done;
  },
};

/** Shows what one agent knew at a point. */
async function showAs(
  context: Context,
  { session, ref, point }: OpenRef,
  agent: string,
  isFull: boolean,
): Promise<number> {
  const { out } = context;
  const known = await session.at(point).as(agent).known();
  if (out.json !== undefined) await out.value({ ref: refText(ref), ...known });
  else {
    await out.lines(agentLines(out, known, isFull));
    out.next(`reprise beliefs ${refText(ref)} --as ${quoted(agent)}`);
  }
  return done;
}

/** Shows what a resume at a point hands over, and how to do it. */
async function showResume({ out }: Context, { session, ref, point }: OpenRef, isFull: boolean): Promise<number> {
  const handed = await session.at(point).resumable();
  if (out.json !== undefined) {
    await out.value(handed);
    return done;
  }
  await out.lines(resumableLines(out, handed, isFull));
  const { session: id, branch } = ref;
  const isHead = ref.at.kind === 'head';
  out.next(isHead ? `reprise resume ${refText({ session: id, branch })}` : `reprise fork ${handed.ref}`);
  return done;
}

/** Suggests a fork at the point, and one just before it; at a tool call, one before the model decided. */
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
