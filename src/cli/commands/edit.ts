import type { CommandSpec } from '../command.ts';
import { editsOf } from '../../core/edit.ts';
import { editOptions, editsFrom } from '../edit-options.ts';
import { done } from '../exit-code.ts';
import { markOf, markOptions, tellMarked } from './marked.ts';

/** `reprise edit`. */
export const edit: CommandSpec = {
  arguments: [{ name: '<ref>', about: 'the live branch: session[/branch]' }],
  options: [...editOptions, ...markOptions],
  examples: ['reprise edit demo --replace 12=event.json --reason "typo"', 'reprise edit demo --drop 14'],
  run: async (context, [text = ''], options) => {
    const { session, ref } = await context.at(text);
    await tellMarked(context, ref, await session.edit({ branch: ref.branch }, editsOf(editsFrom(options)), markOf(options)));
    return done;
  },
};
