import { Option } from 'commander';
import { editsOf } from '../../core/view/edit.ts';
import type { CommandSpec } from '../command.ts';
import { done } from '../exit-code.ts';
import { flagOption } from '../option-values.ts';
import { editOptions, editsFrom, noteUnknownAgent } from '../options/edit-options.ts';
import { editedEvent } from '../options/editor.ts';
import { markOf, markOptions, printMarked } from './marked.ts';

/** `reprise edit`. */
export const edit: CommandSpec = {
  arguments: [{ name: '<ref>', about: 'branch: session[/branch]; with --edit, the event: session[/branch]@seq' }],
  options: [...markOptions, new Option('--edit', 'open $EDITOR on the event at the point'), ...editOptions()],
  examples: [
    'reprise edit demo --replace 12=event.json --reason "typo"',
    'reprise edit demo@12 --edit',
    'reprise edit demo --drop 14',
  ],
  run: async (context, [text = ''], options) => {
    const isInEditor = flagOption(options, 'edit');
    const found = isInEditor ? await context.at(text) : await context.branch(text);
    const { session, ref, point } = found;
    const edits = editsOf(editsFrom(options));
    await noteUnknownAgent(context, found, options);
    if (isInEditor) edits.push(await editedEvent(session, point));
    const { edits: masked, ...mark } = await context.masked(session, { ...markOf(options), edits });
    const edited = session.branch(ref.branch).edit(masked, mark);
    await printMarked(context, ref, await context.patient(edited));
    return done;
  },
};
