import { Option } from 'commander';
import { parseJson } from '../../core/canonical-json.ts';
import { checkTurn, refText } from '../../core/ref.ts';
import { RepriseError } from '../../core/error.ts';
import type { JsonObject } from '../../core/json.ts';
import type { CommandSpec } from '../command.ts';
import { editOptions, editsFrom } from '../edit-options.ts';
import { editedEvent } from '../editor.ts';
import { done } from '../exit-code.ts';

const collect = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];

/** `reprise fork`. */
export const fork: CommandSpec = {
  arguments: [{ name: '<ref>', about: 'the point: session[/branch][@at]' }],
  options: [
    new Option('--name <branch>', 'the new branch; a free name is chosen if left out'),
    ...editOptions,
    new Option('--edit', 'open $EDITOR on the event at the point'),
    new Option('--turn <n>', 'fork at the head without what came after a turn'),
    new Option('--reason <text>', 'why; it is kept in the log'),
    new Option('--by <agent>', 'who does it'),
    new Option('--meta <key=json>', 'metadata of the new branch').argParser(collect),
  ],
  examples: ['reprise fork demo@12 --prompt "Only check the connection pool." --name narrower', 'reprise fork demo@14 --tool-result 14=answer.json', 'reprise fork latest --model large-1'],
  run: async (context, [text = ''], options) => {
    const { out } = context;
    const { session, ref, point } = await context.at(text);
    const { name, reason, by, turn, edit } = options as { readonly name?: string; readonly reason?: string; readonly by?: string; readonly turn?: string; readonly edit?: boolean };
    const given = editsFrom(options);
    const edits = edit === true ? [...(given.edits ?? []), await editedEvent(session, point)] : given.edits;
    const branch = await session.fork(turn === undefined ? point : { branch: ref.branch, turn: checkTurn(Number(turn)) }, {
      ...given,
      ...(edits === undefined ? {} : { edits }),
      ...(name === undefined ? {} : { name }),
      ...(reason === undefined ? {} : { reason }),
      ...(by === undefined ? {} : { agent: by }),
      metadata: metadataOf((options['meta'] as readonly string[] | undefined) ?? []),
    });
    const made = refText({ session: session.id, branch: branch.name });
    const lineage = { parent: branch.parent ?? null, reason: reason ?? null, agent: by ?? null };
    if (out.json !== undefined) await out.value({ session: session.id, branch: branch.name, ref: made, head: branch.head, lineage });
    else {
      await out.line(`${out.style('green', made)} begins at ${branch.parent?.branch ?? ''}@${branch.parent?.seq ?? 0}${branch.head === (branch.parent?.seq ?? 0) + 1 ? '' : `, with its edits up to @${branch.head}`}`);
      if (branch.dependents.length > 0) out.say(`Kept although they depended on what was dropped: seq ${branch.dependents.join(', ')}.`);
      out.next(`reprise diff ${refText({ session: session.id, branch: ref.branch })} ${made}`, `reprise show ${made}`);
    }
    return done;
  },
};

function metadataOf(pairs: readonly string[]): JsonObject {
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=');
      if (at <= 0) throw new RepriseError('edit.invalid', `Cannot read --meta: ${JSON.stringify(pair)} has no "="`, { hint: 'Write --meta KEY=JSON.' });
      return [pair.slice(0, at), parseJson(pair.slice(at + 1))];
    }),
  );
}
