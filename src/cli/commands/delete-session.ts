import { Option } from 'commander';
import { RepriseError } from '../../core/error.ts';
import type { Session } from '../../engine/session.ts';
import { countText } from '../../wording/amount.ts';
import { plain } from '../../wording/text.ts';
import type { CommandSpec } from '../command.ts';
import { done, no } from '../exit-code.ts';
import { confirm } from '../options/confirm.ts';

/** `reprise delete-session`. */
export const deleteSession: CommandSpec = {
  arguments: [{ name: '<session>', about: 'the session, by its own id' }],
  options: [new Option('--yes', 'do not ask')],
  examples: ['reprise delete-session demo', 'reprise delete-session demo --yes --json'],
  run: async (context, [text = ''], options) => {
    const { out } = context;
    checkId(text);
    const { session } = await context.at(text);
    const { events, branches } = await sizeOf(session);
    const size = `${countText(events)} events on ${branches === 1 ? 'one branch' : `${countText(branches)} branches`}`;
    const question = `Delete session "${plain(session.id)}" with ${size}?`;
    if (!(await confirm({ question, yes: options['yes'] === true, isJson: out.json !== undefined }))) {
      out.say('Nothing was deleted.');
      return no;
    }
    await context.patient(session.delete({ confirm: session.id }));
    if (out.json !== undefined) await out.value({ session: session.id, deleted: true, events, branches });
    else await out.line(`${plain(session.id)} is gone: ${size}`);
    return done;
  },
};

/** Whoever names a branch or a point does not mean the whole session, and "latest" may mean another one by now. */
function checkId(text: string): void {
  if (!/[/@]/.test(text) && text !== 'latest') return;
  throw new RepriseError('ref.invalid', `Cannot delete ${JSON.stringify(text)}: only a whole session can be deleted`, {
    hint: 'Name it by its own id, as "reprise list" shows it. To forget one payload, use "reprise erase".',
  });
}

async function sizeOf(session: Session): Promise<{ readonly events: number; readonly branches: number }> {
  let events = 0;
  let branches = 0;
  const open = [await session.tree()];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    branches += 1;
    events += node.head - (node.parent?.seq ?? 0);
    open.push(...node.children);
  }
  return { events, branches };
}
