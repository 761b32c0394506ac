import type { CommandSpec } from '../command.ts';
import { done } from '../exit-code.ts';
import { markOf, markOptions, printMarked } from './marked.ts';

/** `reprise redo`. */
export const redo: CommandSpec = {
  arguments: [{ name: '<ref>', about: 'branch: session[/branch]' }],
  options: markOptions,
  examples: ['reprise redo demo', 'reprise redo demo/careful --reason "it was right after all"'],
  run: async (context, [text = ''], options) => {
    const { session, ref } = await context.branch(text);
    const how = await context.masked(session, markOf(options));
    await printMarked(context, ref, await context.patient(session.branch(ref.branch).redo(how)));
    return done;
  },
};
