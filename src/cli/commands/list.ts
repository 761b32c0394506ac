import { Option } from 'commander';
import type { JsonValue } from '../../core/json.ts';
import { isoTime } from '../../core/time.ts';
import type { BranchNode } from '../../engine/tree.ts';
import type { Reprise } from '../../engine/reprise.ts';
import type { Session } from '../../engine/session.ts';
import { type Summary, summary } from '../../projections/summary.ts';
import type { CommandSpec } from '../command.ts';
import type { Context } from '../context.ts';
import { done } from '../exit-code.ts';
import { bytesText, costText, countText, durationText, timeText } from '../render/amount.ts';
import { type Column, tableLines } from '../render/table.ts';
import { plain } from '../render/text.ts';

/** One branch of one session, as `list` shows it. */
interface Row {
  readonly session: Session;
  readonly node: BranchNode;
  readonly depth: number;
  readonly summary: Summary;
}

const outcomes: Readonly<Record<string, 'green' | 'red' | 'yellow'>> = { ok: 'green', error: 'red', aborted: 'yellow', interrupted: 'yellow', budget: 'yellow', silent: 'yellow' };

/** `reprise list`. */
export const list: CommandSpec = {
  options: [
    new Option('--limit <n>', 'sessions at most').default('50'),
    new Option('--since <time>', 'sessions changed at or after a time'),
    new Option('--agent <agent>', "that an agent took part in; '~text' for a part of its id"),
    new Option('--outcome <outcome>', 'that ended so: ok, error, aborted, interrupted, budget, silent'),
    new Option('--search <text>', 'whose title, id or branch contains a text'),
  ],
  examples: ['reprise list', 'reprise list --outcome error --since 2026-11-01', "reprise list --agent '~support' --json"],
  run: async (context, _values, options) => {
    const rows = await rowsOf(await context.open(), options as unknown as Options);
    if (context.out.json !== undefined) for (const row of rows) await context.out.value(await shapeOf(row));
    else await show(context, rows);
    return done;
  },
};

interface Options {
  readonly limit: string;
  readonly since?: string;
  readonly agent?: string;
  readonly outcome?: string;
  readonly search?: string;
}

async function rowsOf(reprise: Reprise, options: Options): Promise<Row[]> {
  const rows: Row[] = [];
  const since = options.since === undefined ? undefined : isoTime(options.since);
  let left = Number(options.limit);
  for await (const record of reprise.sessions()) {
    if (left <= 0 || (since !== undefined && record.updatedAt < since)) break;
    const session = await reprise.session(record.session);
    const own = (await branchRows(session, await session.tree(), 0)).filter((row) => isWanted(row, options));
    rows.push(...own);
    if (own.length > 0) left -= 1;
  }
  return rows;
}

async function branchRows(session: Session, node: BranchNode, depth: number): Promise<Row[]> {
  const rows = [{ session, node, depth, summary: await session.stateAt({ branch: node.branch }, summary) }];
  for (const child of node.children) rows.push(...(await branchRows(session, child, depth + 1)));
  return rows;
}

function isWanted(row: Row, { agent, outcome, search }: Options): boolean {
  const { agents, outcome: ended, title } = row.summary;
  const isAgent = (id: string): boolean => (agent?.startsWith('~') === true ? id.toLowerCase().includes(agent.slice(1).toLowerCase()) : id === agent);
  if (agent !== undefined && !agents.some(isAgent)) return false;
  if (outcome !== undefined && ended !== outcome) return false;
  const haystack = `${title ?? ''}\n${row.session.id}\n${row.node.branch}`.toLowerCase();
  return search === undefined || haystack.includes(search.toLowerCase());
}

/** The shape of a line of `list --json`. */
async function shapeOf({ session, node, summary: held }: Row): Promise<Record<string, JsonValue>> {
  return {
    session: session.id,
    branch: node.branch,
    parent: node.parent as unknown as JsonValue,
    title: held.title,
    events: held.events,
    head: node.head,
    bytes: node.bytes,
    startedAt: held.startedAt,
    endedAt: held.endedAt,
    durationMs: held.durationMs,
    outcome: held.outcome,
    agents: held.agents,
    git: held.git,
    usage: held.spending as unknown as JsonValue,
    fingerprint: await session.fingerprint({ branch: node.branch }),
  };
}

async function show({ out }: Context, rows: readonly Row[]): Promise<void> {
  if (rows.length === 0) {
    out.say('No sessions match.');
    return;
  }
  const columns: readonly Column<Row>[] = [
    { title: 'SESSION', value: ({ session, node, depth }) => plain(depth === 0 ? session.id : `${'  '.repeat(depth - 1)}└ ${node.branch}`), flex: 2, widthMin: 10, style: (text, row) => (row.depth === 0 ? out.bold(text) : text) },
    { title: 'TITLE', value: ({ summary: held }) => plain(held.title ?? ''), flex: 3, widthMin: 10 },
    { title: 'STARTED', value: ({ summary: held }) => (held.startedAt === null ? '' : timeText(held.startedAt)), optional: 2 },
    { title: 'TOOK', value: ({ summary: held }) => (held.durationMs === null ? '' : durationText(held.durationMs)), align: 'right', optional: 3 },
    { title: 'EVENTS', value: ({ summary: held }) => countText(held.events), align: 'right' },
    { title: 'SIZE', value: ({ node }) => bytesText(node.bytes), align: 'right', optional: 5 },
    { title: 'AGENTS', value: ({ summary: held }) => plain(held.agents.slice(0, 3).join(',') + (held.agents.length > 3 ? '…' : '')), widthMax: 18, optional: 6 },
    { title: 'OUTCOME', value: ({ summary: held }) => held.outcome ?? '', style: (text, { summary: held }) => out.style(outcomes[held.outcome ?? ''] ?? 'dim', text) },
    { title: 'TOKENS', value: ({ summary: held }) => countText(held.spending.inputTokens + held.spending.outputTokens), align: 'right', optional: 7 },
    { title: 'COST', value: ({ summary: held }) => costText(held.spending.cost), align: 'right', optional: 8 },
    { title: 'GIT', value: ({ summary: held }) => plain(held.git === null ? '' : `${held.git.branch ?? ''} ${(held.git.sha ?? '').slice(0, 8)}`), widthMax: 22, optional: 9 },
  ];
  await out.lines(tableLines(rows, columns, { columns: out.columns, bold: (text) => out.bold(text) }));
  const first = rows[0] as Row;
  out.next(`reprise replay ${first.session.id}`);
}
