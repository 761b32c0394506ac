import type { FleetTask } from '../../core/fleet/fleet-task.ts';
import { refText } from '../../core/ref.ts';
import type { TasksAnswer } from '../../reading/answers/fleet-answers.ts';
import { plain } from '../../wording/text.ts';
import type { CommandSpec } from '../command.ts';
import { done } from '../exit-code.ts';
import { numberOption } from '../option-values.ts';
import { momentOf, momentOptions, pointIn, printRows } from '../options/fleet-options.ts';

/** `reprise tasks`. */
export const tasks: CommandSpec = {
  arguments: [{ name: '<ref>', about: 'history: session[/branch][@at]' }],
  options: momentOptions,
  examples: ['reprise tasks demo', 'reprise tasks demo --story 15 --json'],
  run: async (context, [text = ''], options) => {
    const { out } = context;
    const found = await momentOf(context, text, options);
    const there = await found.session.at(pointIn(found, options)).fleet.tasks();
    const first = { ref: refText(found.ref), story: numberOption(options, 'story') ?? null };
    await printRows<TasksAnswer, 'tasks', FleetTask>(context, { first, key: 'tasks' }, there, [
      { title: 'TASK', value: ({ task }) => plain(task), widthMax: 24 },
      { title: 'TITLE', value: ({ title }) => plain(title ?? ''), flex: 1, widthMin: 12 },
      { title: 'STATUS', value: ({ status, outcome }) => (status === 'ended' ? `ended ${outcome ?? ''}` : status) },
      { title: 'AGENT', value: ({ agent }) => plain(agent ?? ''), widthMax: 18 },
      { title: 'FAILED CHECKS', value: ({ failed }) => plain(failed.join(', ')), widthMax: 24, optional: 1 },
      { title: 'TURN', value: ({ turn }) => String(turn), align: 'right', optional: 2 },
    ]);
    if (out.json === undefined && there.length === 0) out.say('There are no tasks.');
    return done;
  },
};
