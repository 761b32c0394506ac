import { Option } from 'commander';
import type { Belief } from '../../core/fleet/belief.ts';
import { given } from '../../core/json.ts';
import { refText } from '../../core/ref.ts';
import type { BeliefsAnswer } from '../../reading/answers/fleet-answers.ts';
import { plain } from '../../wording/text.ts';
import type { CommandSpec } from '../command.ts';
import { done } from '../exit-code.ts';
import { numberOption, textOption } from '../option-values.ts';
import { momentOf, momentOptions, pointIn, printRows } from '../options/fleet-options.ts';
import { quoted } from '../typed.ts';

/** `reprise beliefs`. */
export const beliefs: CommandSpec = {
  arguments: [{ name: '<ref>', about: 'history: session[/branch][@at]' }],
  options: [
    ...momentOptions,
    new Option('--agent <agent>', 'only claims of this agent'),
    new Option('--topic <topic>', 'only claims on this topic'),
    new Option('--as <agent>', 'only what this agent could see then'),
  ],
  examples: [
    'reprise beliefs demo',
    'reprise beliefs demo --story 15 --topic diagnosis',
    'reprise beliefs demo@12 --as triage --json',
  ],
  run: async (context, [text = ''], options) => {
    const { out } = context;
    const found = await momentOf(context, text, options);
    const { session, ref } = found;
    const [agent, topic, as] = ['agent', 'topic', 'as'].map((name) => textOption(options, name));
    const look = session.at(pointIn(found, options));
    const held = await (as === undefined ? look : look.as(as)).beliefs.list(given({ agent, topic }));
    const first = { ref: refText(ref), story: numberOption(options, 'story') ?? null, as: as ?? null };
    await printRows<BeliefsAnswer, 'beliefs', Belief>(context, { first, key: 'beliefs' }, held, [
      { title: 'TOPIC', value: ({ topic: about }) => plain(about ?? ''), widthMax: 24 },
      {
        title: 'CLAIM',
        value: ({ claim, erased }) => (erased === true ? '(erased)' : plain(claim)),
        flex: 1,
        widthMin: 20,
      },
      { title: 'KIND', value: ({ kind }) => kind, optional: 2 },
      { title: 'AGENT', value: (belief) => plain(belief.agent ?? ''), widthMax: 18 },
      { title: 'TRUST', value: ({ trust }) => String(trust), align: 'right', optional: 3 },
      { title: 'TURN', value: ({ turn }) => String(turn), align: 'right' },
      { title: 'ID', value: ({ id }) => plain(id), optional: 1 },
    ]);
    if (out.json !== undefined) return done;
    const [one] = held;
    if (one === undefined) out.say('No belief stands there.');
    else out.next(`reprise revert ${refText({ session: ref.session, branch: ref.branch })} --belief ${quoted(one.id)}`);
    return done;
  },
};
