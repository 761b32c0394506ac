import type { ReindexOutcome } from '../../core/store/reindex-request.ts';
import type { Reprise } from '../../engine/reprise.ts';
import { plural } from '../../wording/amount.ts';
import { plain } from '../../wording/text.ts';
import type { CommandSpec } from '../command.ts';
import type { Context } from '../context.ts';
import { done } from '../exit-code.ts';

/** One session that had something wrong. */
interface RepairedSession extends ReindexOutcome {
  readonly namespace: string;
  readonly session: string;
}

/** The result of a repair, as `reprise repair --json` prints it. */
export interface RepairAnswer {
  /** How many sessions were compared with their logs. */
  readonly sessions: number;
  /** How many rows were wrong. */
  readonly count: number;
  readonly repaired: readonly RepairedSession[];
}

/** `reprise repair`. */
export const repair: CommandSpec = {
  arguments: [{ name: '[sessions...]', about: 'sessions to repair (default: all, in every namespace)' }],
  examples: ['reprise repair', 'reprise repair demo', 'reprise repair --json'],
  run: async (context, values) => {
    const { out } = context;
    const answer = await repairAll(context, values);
    if (out.json !== undefined) await out.value(answer);
    else {
      await out.lines(answer.repaired.map(lineOf));
      if (answer.count === 0) await out.line('Nothing was wrong: the key index and the clocks match the log.');
      out.say('The snapshots were dropped. The next looks make them again.');
      out.next('reprise doctor --verify');
    }
    return done;
  },
};

function lineOf({ namespace, session, count, faults: [first] }: RepairedSession): string {
  const rest = count > 1 ? `; and ${plural(count - 1, 'other row')}` : '';
  return `${plain(session)} (namespace ${plain(namespace)}): mended that ${plain(first?.message ?? '')}${rest}`;
}

async function repairAll(context: Context, names: readonly string[]): Promise<RepairAnswer> {
  const reprise = await context.open();
  const repaired: RepairedSession[] = [];
  let [sessions, total] = [0, 0];
  for (const { namespace, session } of await chosen(context, reprise, names)) {
    const outcome = await context.patient((await reprise.namespace(namespace).session(session)).repair());
    sessions += 1;
    total += outcome.count;
    if (outcome.count > 0) repaired.push({ namespace, session, ...outcome });
  }
  return { sessions, count: total, repaired };
}

async function chosen(
  context: Context,
  reprise: Reprise,
  names: readonly string[],
): Promise<readonly { readonly namespace: string; readonly session: string }[]> {
  const found: { readonly namespace: string; readonly session: string }[] = [];
  const { currentNamespace: namespace } = reprise;
  for (const name of names) found.push({ namespace, session: (await context.at(name)).session.id });
  if (names.length === 0) for await (const held of reprise.sessions({ allNamespaces: true })) found.push(held);
  return found;
}
