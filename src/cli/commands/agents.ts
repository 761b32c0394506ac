import { refText } from '../../core/ref.ts';
import type { FleetAgent } from '../../engine/believing/fleet-at.ts';
import type { AgentsAnswer } from '../../reading/answers/fleet-answers.ts';
import { scopeText } from '../../wording/fleet-text.ts';
import { plain } from '../../wording/text.ts';
import type { CommandSpec } from '../command.ts';
import { done } from '../exit-code.ts';
import { numberOption } from '../option-values.ts';
import { momentOf, momentOptions, pointIn, printRows } from '../options/fleet-options.ts';
import { quoted } from '../typed.ts';

/** `reprise agents`. */
export const agents: CommandSpec = {
  arguments: [{ name: '<ref>', about: 'history: session[/branch][@at]' }],
  options: momentOptions,
  examples: ['reprise agents demo', 'reprise agents demo --story 15', 'reprise agents demo@12 --json'],
  run: async (context, [text = ''], options) => {
    const { out } = context;
    const found = await momentOf(context, text, options);
    const { session, ref } = found;
    const there = await session.at(pointIn(found, options)).fleet.agents();
    const first = { ref: refText(ref), story: numberOption(options, 'story') ?? null };
    await printRows<AgentsAnswer, 'agents', FleetAgent>(context, { first, key: 'agents' }, there, [
      { title: 'AGENT', value: ({ agent }) => plain(agent), widthMax: 24 },
      { title: 'ROLE', value: ({ role }) => plain(role ?? ''), widthMax: 24, optional: 2 },
      { title: 'SEES', value: ({ scope }) => plain(scopeText(scope)), flex: 1, widthMin: 12 },
      { title: 'TRUST', value: ({ trust }) => String(trust ?? 1), align: 'right', optional: 1 },
      { title: 'MODEL', value: ({ model }) => plain(model ?? ''), optional: 3 },
      { title: 'SINCE TURN', value: ({ since }) => String(since), align: 'right' },
      { title: 'TASKS', value: ({ tasks }) => plain(tasks.join(', ')), widthMax: 24, optional: 4 },
    ]);
    if (out.json !== undefined) return done;
    const [one] = there;
    if (one === undefined) out.say('No agent is there.');
    else out.next(`reprise show ${refText(ref)} --as ${quoted(one.agent)}`);
    return done;
  },
};
