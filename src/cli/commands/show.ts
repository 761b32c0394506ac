import { Option } from 'commander';
import { beginning } from '../../core/point.ts';
import { type Ref, refText } from '../../core/ref.ts';
import { historyFacts } from '../../reading/history-facts.ts';
import { eventAt, type Known, knownAt, showAnswer } from '../../reading/known-at.ts';
import { eventsUpTo } from '../../reading/open-ref.ts';
import type { CommandSpec } from '../command.ts';
import { done } from '../exit-code.ts';
import { flagOption } from '../option-values.ts';
import { decideCommands } from '../render/decide-commands.ts';
import { headerLines } from '../render/history-header.ts';
import { eventLines, knownLines } from '../render/known-lines.ts';

/** `reprise show`. */
export const show: CommandSpec = {
  arguments: [{ name: '<ref>', about: 'point: session[/branch]@at' }],
  options: [new Option('--full', 'show everything in full')],
  examples: ['reprise show latest@14', 'reprise show demo/careful@before:20 --full', 'reprise show demo@turn:3 --json'],
  run: async (context, [text = 'latest'], options) => {
    const { out } = context;
    const found = await context.at(text);
    const { session, ref, point } = found;
    const isFull = flagOption(options, 'full');
    if (out.json === undefined) {
      // Both are quick to read; the knowledge of the agent may have to be folded from a long history.
      await out.lines(headerLines(out, session.id, await historyFacts(found)));
      await out.lines(eventLines(out, await eventAt(session, point), isFull));
      await out.flush();
    }
    // Both the conversation and the state are folded.
    out.progress.begin('show', 2 * eventsUpTo(found));
    const known = await knownAt(found);
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

/** Suggests a fork at the point, and one just before it. */
function forkCommands({ session, branch }: Ref, { event, seen }: Known): string[] {
  const seq = event?.seq ?? beginning;
  const change = seen.messages.length > 0 ? '--prompt' : '--system';
  const here = `reprise fork ${refText({ session, branch, at: { kind: 'seq', seq } })} ${change} "…"`;
  if (event === undefined) return [here];
  return [here, `reprise fork ${refText({ session, branch, at: { kind: 'before', seq } })} --model "…"`];
}
