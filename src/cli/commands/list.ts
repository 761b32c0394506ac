import { Option } from 'commander';
import { outcomes } from '../../core/event/event.ts';
import { parseFilter } from '../../core/event/filter.ts';
import { given } from '../../core/json.ts';
import { nearest } from '../../core/nearest.ts';
import { refText } from '../../core/ref.ts';
import type { Reprise } from '../../engine/reprise.ts';
import {
  checkListQuery,
  type ListAnswer,
  type ListedBranch,
  type ListQuery,
  type ListRow,
  listBranches,
  listRow,
} from '../../reading/answers/list-branches.ts';
import type { CommandSpec } from '../command.ts';
import type { Context } from '../context.ts';
import { done } from '../exit-code.ts';
import { flagOption, numberOption, type OptionValues, textOption } from '../option-values.ts';
import { timeOf } from '../options/filter-options.ts';
import { wholeNumber } from '../options/number-option.ts';
import { branchTable } from '../render/branch-table.ts';
import { quoted } from '../typed.ts';

const sessionsMax = 50;

/** `reprise list`. */
export const list: CommandSpec = {
  options: [
    new Option(
      '--filter <conditions>',
      'match fields of the JSON, as field=regex pairs: "git.branch=^main,outcome=error"',
    ),
    new Option('--search <text>', 'match text anywhere in the JSON, ignoring case'),
    new Option('--agent <agent>', "only branches this agent took part in; '~text' matches part of its id"),
    new Option('--outcome <outcome>', 'only this outcome: ok, error, aborted, interrupted, budget, waiting or silent'),
    new Option(
      '--since <time>',
      'only sessions created since then, or with an event since then: ISO 8601, or an age such as 90s, 15m, 2h, 3d',
    ),
    new Option('--waiting', 'only branches that wait for a person'),
    new Option('--branches', 'a row for each branch, not only for each session'),
    new Option('--archived', 'archived branches too'),
    new Option('--limit <n>', 'show at most this many sessions').default(sessionsMax).argParser(wholeNumber),
    new Option('--all-namespaces', 'every namespace in the store'),
  ],
  examples: [
    'reprise list',
    'reprise list --outcome error --since 2d',
    'reprise list --waiting --branches',
    'reprise list --filter "git.branch=^main$,usage.cost=[1-9]"',
    "reprise list --agent '~support' --json",
  ],
  run: async (context, _values, options) => {
    const query = queryOf(options);
    const reprise = await context.open();
    context.out.progress.begin('list');
    await (context.out.json === undefined ? print(context, reprise, query) : printJson(context, reprise, query));
    context.out.progress.end();
    return done;
  },
};

/** Reads the options; a bad pattern or time is refused here, before the store is opened. */
function queryOf(options: OptionValues): ListQuery {
  const text = (name: string): string | undefined => textOption(options, name);
  const filter = text('filter');
  const query: ListQuery = {
    limit: numberOption(options, 'limit') ?? sessionsMax,
    allNamespaces: flagOption(options, 'allNamespaces'),
    folds: !flagOption(options, 'branches'),
    waiting: flagOption(options, 'waiting'),
    archived: flagOption(options, 'archived'),
    ...given({
      since: timeOf(text('since')),
      agent: text('agent'),
      outcome: text('outcome'),
      search: text('search'),
      fields: filter === undefined ? undefined : parseFilter(filter).fields,
    }),
  };
  checkListQuery(query);
  return query;
}

async function printJson({ out }: Context, reprise: Reprise, query: ListQuery): Promise<void> {
  const branches: ListRow[] = [];
  const hasNamespace = query.allNamespaces === true;
  for await (const found of listBranches(reprise, query)) {
    out.progress.expect(found.reduce((sum, { node }) => sum + node.head, 0));
    for (const branch of found) {
      const row = await listRow(branch, { hasNamespace });
      if (out.json === 'object') branches.push(row);
      else await out.value(row);
    }
  }
  if (out.json === 'object') await out.value({ branches } satisfies ListAnswer);
}

async function print({ out }: Context, reprise: Reprise, query: ListQuery): Promise<void> {
  const rows: ListedBranch[] = [];
  const found = listBranches(reprise, query);
  let page = await found.next();
  for (; page.done !== true; page = await found.next()) rows.push(...page.value);
  const [first] = rows;
  if (first === undefined) {
    out.say(await whyNothing(reprise, query));
    return;
  }
  await out.lines(
    branchTable(out, rows, { hasNamespaces: query.allNamespaces === true, isFolded: query.folds === true }),
  );
  if (query.folds === true && rows.some(({ branches }) => branches > 1))
    out.say(out.dim('Some sessions have more branches. To see them, add --branches'));
  if (page.value) out.say(out.dim(`There may be more. To see them, add --limit ${query.limit * 2}`));
  const { record, session, node } = rows.find((row) => row.summary.events > 0) ?? first;
  const namespace = record.namespace === reprise.currentNamespace ? '' : ` --namespace ${quoted(record.namespace)}`;
  out.next(`reprise replay ${refText({ session: session.id, branch: node.branch })}${namespace}`);
}

/** Suggests a correction for an unknown outcome, or for an agent that has to match exactly. */
function suggestionFor({ outcome, agent }: ListQuery): string {
  const known: readonly string[] = [...outcomes, 'silent'];
  if (outcome !== undefined && !known.includes(outcome)) {
    const near = nearest(outcome, known);
    return near === undefined ? ` Outcomes are ${known.join(', ')}.` : ` Did you mean --outcome ${near}?`;
  }
  return agent === undefined || agent.startsWith('~')
    ? ''
    : ` To match part of an agent's id, use --agent '~${agent}'.`;
}

async function whyNothing(reprise: Reprise, query: ListQuery): Promise<string> {
  const { allNamespaces = false, limit } = query;
  if (limit === 0) return 'Nothing to show: --limit is 0.';
  for await (const _ of reprise.sessions({ allNamespaces })) return `No matching sessions.${suggestionFor(query)}`;
  for await (const { namespace } of reprise.sessions({ allNamespaces: true })) {
    return `No sessions in namespace "${reprise.currentNamespace}", but there are some in "${namespace}". Use --all-namespaces to see them.`;
  }
  return 'No sessions yet. Sessions appear here once you record them.';
}
