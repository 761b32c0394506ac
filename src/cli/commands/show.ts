import { Option } from 'commander';
import { beginning } from '../../core/point.ts';
import { type Ref, refText } from '../../core/ref.ts';
import { historyFacts } from '../../reading/history-facts.ts';
import { eventAt, type Known, knownAt } from '../../reading/known-at.ts';
import type { CommandSpec } from '../command.ts';
import { done } from '../exit-code.ts';
import { headerLines } from '../render/history-header.ts';
import { eventLines, knownLines } from '../render/known-lines.ts';

/** `reprise show`. */
export const show: CommandSpec = {
  arguments: [{ name: '<ref>', about: 'the point: session[/branch]@at' }],
  options: [new Option('--full', 'everything, nothing folded')],
  examples: ['reprise show latest@14', 'reprise show demo/careful@before:20 --full', 'reprise show demo@turn:3 --json'],
  run: async (context, [text = 'latest'], options) => {
    const { out } = context;
    const { session, ref, point } = await context.at(text);
    const isFull = options['full'] === true;
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
  const change = seen.messages.length > 0 ? '--prompt' : '--system';
  const here = `reprise fork ${refText({ session, branch, at: { kind: 'seq', seq } })} ${change} "…"`;
  if (event === undefined) return [here];
  return [here, `reprise fork ${refText({ session, branch, at: { kind: 'before', seq } })} --model "…"`];
}
