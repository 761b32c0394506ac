import { Option } from 'commander';
import { RepriseError } from '../../core/error.ts';
import { compileFields, parseFilter } from '../../core/event/filter.ts';
import type { JsonObject } from '../../core/json.ts';
import { nearest } from '../../core/nearest.ts';
import { refText } from '../../core/ref.ts';
import type { Reprise } from '../../engine/reprise.ts';
import { type BranchRow, branchRows, branchShape } from '../../reading/branch-rows.ts';
import { outcomes } from '../answering/nothing-found.ts';
import type { CommandSpec } from '../command.ts';
import type { Context } from '../context.ts';
import { done } from '../exit-code.ts';
import { timeOf } from '../options/filter-options.ts';
import { wholeNumber } from '../options/number-option.ts';
import { branchTable } from '../render/branch-table.ts';
import { quoted } from '../typed.ts';

const sessionsMax = 50;

/** `reprise list`. */
export const list: CommandSpec = {
  options: [
    new Option('--filter <conditions>', 'field=regex pairs over the JSON shape: "git.branch=^main,outcome=error"'),
    new Option('--search <text>', 'whose line of JSON contains a text, whatever its case'),
    new Option('--agent <agent>', "that an agent took part in; '~text' for a part of its id"),
    new Option('--outcome <outcome>', 'that ended so: ok, error, aborted, interrupted, budget, silent'),
    new Option('--since <time>', 'sessions changed since then: ISO 8601, or 90s, 15m, 2h, 3d ago'),
    new Option('--limit <n>', 'sessions at most').default(sessionsMax).argParser(wholeNumber),
    new Option('--all-namespaces', 'behind every wall of the store'),
  ],
  examples: [
    'reprise list',
    'reprise list --outcome error --since 2d',
    'reprise list --filter "git.branch=^main$,usage.cost=[1-9]"',
    "reprise list --agent '~support' --json",
  ],
  run: async (context, _values, options) => {
    const wanted = listOptions(options);
    const reprise = await context.open();
    context.out.progress.begin('list');
    await (context.out.json === undefined ? print(context, reprise, wanted) : printJson(context, reprise, wanted));
    context.out.progress.end();
    return done;
  },
};

interface ListOptions {
  readonly limit: number;
  readonly since: string | undefined;
  readonly allNamespaces: boolean;
  /** Whether a row is wanted; its shape is given with the fingerprint only where a filter asks for it. */
  readonly holds: (row: BranchRow, shape: JsonObject) => boolean;
  readonly needsFingerprint: boolean;
  /** What was asked for in words that a person may mistype. */
  readonly words: { readonly outcome: string | undefined; readonly agent: string | undefined };
}

/** Reads the options; a bad pattern or time is refused here, before anything is opened. */
function listOptions(options: Readonly<Record<string, unknown>>): ListOptions {
  const given = (name: string): string | undefined => options[name] as string | undefined;
  const fields = given('filter') === undefined ? [] : (parseFilter(given('filter') as string).fields ?? []);
  for (const { key } of fields) checkField(key);
  const fieldsHold = compileFields(fields);
  const search = given('search')?.toLowerCase();
  const outcome = given('outcome');
  const agent = given('agent');
  return {
    limit: (options['limit'] as number | undefined) ?? sessionsMax,
    since: timeOf(given('since')),
    allNamespaces: options['allNamespaces'] === true,
    words: { outcome, agent },
    needsFingerprint: fields.some(({ key }) => key === 'fingerprint'),
    holds: (row, shape) =>
      (agent === undefined || row.summary.agents.some((id) => isAgent(agent, id))) &&
      (outcome === undefined || row.summary.outcome === outcome) &&
      fieldsHold(shape) &&
      (search === undefined || JSON.stringify(shape).toLowerCase().includes(search)),
  };
}

const fieldNames: readonly string[] =
  'session branch parent title events head bytes startedAt endedAt durationMs outcome agents git usage fingerprint'.split(
    ' ',
  );

/** A field that no line has is a typo: nothing would ever match. */
function checkField(key: string): void {
  const [name = ''] = key.split('.');
  if (fieldNames.includes(name)) return;
  const near = nearest(name, fieldNames);
  throw new RepriseError('filter.invalid', `Cannot use the filter: a line of the list has no field "${name}"`, {
    hint: near === undefined ? `There are ${fieldNames.join(', ')}.` : `Did you mean "${near}"?`,
  });
}

function isAgent(wanted: string, id: string): boolean {
  return wanted.startsWith('~') ? id.toLowerCase().includes(wanted.slice(1).toLowerCase()) : id === wanted;
}

/** The branches that are wanted, session by session, last appended to first; ends with how many sessions are left. */
async function* wantedRows(reprise: Reprise, options: ListOptions): AsyncGenerator<readonly BranchRow[], boolean> {
  let count = 0;
  for await (const record of reprise.sessions({ allNamespaces: options.allNamespaces })) {
    if (options.since !== undefined && record.updatedAt < options.since) continue;
    if (count >= options.limit) return true;
    const session = await reprise.namespace(record.namespace).session(record.session);
    const rows: BranchRow[] = [];
    for (const row of await branchRows(record, session)) {
      const shape = options.needsFingerprint ? await fullShape(row) : branchShape(row);
      if (options.holds(row, shape)) rows.push(row);
    }
    if (rows.length === 0) continue;
    count += 1;
    yield rows;
  }
  return false;
}

async function fullShape(row: BranchRow): Promise<JsonObject> {
  return { ...branchShape(row), fingerprint: await row.session.fingerprint({ branch: row.node.branch }) };
}

async function printJson({ out }: Context, reprise: Reprise, options: ListOptions): Promise<void> {
  const branches: JsonObject[] = [];
  for await (const rows of wantedRows(reprise, options)) {
    out.progress.expect(rows.reduce((sum, { node }) => sum + node.head, 0));
    for (const row of rows) {
      const place = options.allNamespaces ? { namespace: row.record.namespace } : {};
      const shape = { ...place, ...(await fullShape(row)) };
      if (out.json === 'object') branches.push(shape);
      else await out.value(shape);
    }
  }
  if (out.json === 'object') await out.value({ branches });
}

async function print({ out }: Context, reprise: Reprise, options: ListOptions): Promise<void> {
  const rows: BranchRow[] = [];
  const found = wantedRows(reprise, options);
  let page = await found.next();
  for (; page.done !== true; page = await found.next()) rows.push(...page.value);
  const [first] = rows;
  if (first === undefined) {
    out.say(await whyNothing(reprise, options));
    return;
  }
  await out.lines(branchTable(out, rows, { hasNamespaces: options.allNamespaces }));
  if (page.value) out.say(out.dim(`There may be more: --limit ${options.limit * 2} shows them.`));
  const { record, session, node } = rows.find((row) => row.summary.events > 0) ?? first;
  const wall = record.namespace === reprise.currentNamespace ? '' : ` --namespace ${quoted(record.namespace)}`;
  out.next(`reprise replay ${refText({ session: session.id, branch: node.branch })}${wall}`);
}

/** An outcome that there is not, and an agent that is exact, with what was probably meant. */
function meant({ outcome, agent }: ListOptions['words']): string {
  const known = [...outcomes, 'silent'];
  const near = outcome === undefined || known.includes(outcome) ? undefined : nearest(outcome, known);
  if (near !== undefined) return ` Did you mean --outcome ${near}?`;
  return agent === undefined || agent.startsWith('~') ? '' : ` For a part of an agent's id, write --agent '~${agent}'.`;
}

async function whyNothing(reprise: Reprise, { allNamespaces, limit, words }: ListOptions): Promise<string> {
  if (limit === 0) return 'Nothing was asked for: --limit is 0.';
  for await (const _ of reprise.sessions({ allNamespaces })) return `No session matches.${meant(words)}`;
  for await (const { namespace } of reprise.sessions({ allNamespaces: true })) {
    return `No sessions in namespace "${reprise.currentNamespace}", but in "${namespace}": see --all-namespaces.`;
  }
  return 'No sessions yet. Record one, and it is listed here.';
}
