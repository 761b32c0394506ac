import { Option } from 'commander';
import { RepriseError } from '../../core/error.ts';
import type { Event } from '../../core/event/event.ts';
import { given } from '../../core/json.ts';
import { nearest } from '../../core/nearest.ts';
import { refText } from '../../core/ref.ts';
import { auditTypes } from '../../engine/believing/audit.ts';
import { historyFacts } from '../../reading/answers/history-facts.ts';
import type { CommandSpec } from '../command.ts';
import { done } from '../exit-code.ts';
import { collect, flagOption, listOption, numberOption } from '../option-values.ts';
import { wholeNumber } from '../options/number-option.ts';
import { EventTable } from '../render/event-table.ts';

/** `reprise audit`. */
export const audit: CommandSpec = {
  arguments: [{ name: '<ref>', about: 'history: session[/branch][@at]' }],
  options: [
    new Option('--limit <n>', 'print only the newest n events, the oldest of them first').argParser(wholeNumber),
    new Option('--after <seq>', 'print only events after this seq').argParser(wholeNumber),
    new Option('--type <type>', 'print only events of this type; repeatable').argParser(collect),
    new Option('--follow', 'keep printing events as any process appends them, until Ctrl-C'),
  ],
  examples: [
    'reprise audit demo',
    'reprise audit demo --limit 20 --type belief.committed',
    'reprise audit demo --json',
  ],
  run: async (context, [text = ''], options) => {
    const { out } = context;
    const found = await context.at(text);
    const { session, ref, point } = found;
    const types = listOption(options, 'type');
    checkTypes(types);
    const asked = {
      ...given({ limit: numberOption(options, 'limit'), after: numberOption(options, 'after') }),
      ...(types.length === 0 ? {} : { filter: { types } }),
    };
    const events = flagOption(options, 'follow')
      ? session.branch(ref.branch).audit({ ...asked, follow: true })
      : session.at(point).audit(asked);
    const table = out.json === undefined ? new EventTable(out, await historyFacts(found)) : undefined;
    let last: Event | undefined;
    for await (const event of events) {
      if (table !== undefined && last === undefined) await out.line(table.head());
      await (table === undefined ? out.value(event) : out.line(table.line(event)));
      last = event;
    }
    if (out.json !== undefined) return done;
    if (last === undefined) out.say('Nothing to audit there.');
    else out.next(`reprise beliefs ${refText({ session: ref.session, branch: ref.branch })}`);
    return done;
  },
};

/** Refuses a type that no audit has: a misspelled one would find nothing, silently. */
function checkTypes(types: readonly string[]): void {
  const odd = types.find((type) => !auditTypes.includes(type));
  if (odd === undefined) return;
  const near = nearest(odd, auditTypes);
  throw new RepriseError('filter.invalid', `Cannot audit events of type ${JSON.stringify(odd)}: an audit has none`, {
    hint: near === undefined ? `Its types: ${auditTypes.join(', ')}.` : `Did you mean "${near}"?`,
  });
}
