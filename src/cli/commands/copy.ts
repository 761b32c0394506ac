import { Option } from 'commander';
import { assert, hasCode, RepriseError } from '../../core/error.ts';
import { refText } from '../../core/ref.ts';
import type { SessionRecord } from '../../core/store/event-store.ts';
import { withoutPassword } from '../../core/store/store-url.ts';
import type { CopiedSession } from '../../engine/copying/copy-options.ts';
import { isStaged } from '../../engine/copying/copy-standing.ts';
import type { Reprise } from '../../engine/reprise.ts';
import { isChangedSince } from '../../reading/changed-sessions.ts';
import type { CommandSpec } from '../command.ts';
import type { Context } from '../context.ts';
import { done, no } from '../exit-code.ts';
import { flagOption, textOption } from '../option-values.ts';
import { timeOf } from '../options/filter-options.ts';
import { type CopiedRow, type CopyAnswer, copyLines, copyRow } from '../render/copy-table.ts';
import { CopyProgressLine } from '../running/copy-progress.ts';
import { openPair } from '../running/store-pair.ts';
import { catchSignals } from '../stop-signals.ts';
import { quoted } from '../typed.ts';

/** `reprise copy`. */
export const copy: CommandSpec = {
  arguments: [
    { name: '<from>', about: 'store to read: sqlite:PATH, postgres://…, https://… or bundle:PATH' },
    {
      name: '<to>',
      about: 'store to write: sqlite:PATH, postgres://… or https://…; a file is created if it does not exist',
    },
    { name: '[sessions...]', about: 'sessions to copy (default: all in the namespace)' },
  ],
  options: [
    new Option(
      '--since <time>',
      'only sessions created since then, or with an event since then: ISO 8601, or an age such as 90s, 15m, 2h, 3d',
    ),
    new Option('--into <namespace>', 'namespace to write at the target (default: the same)').conflicts('allNamespaces'),
    new Option('--all-namespaces', 'every namespace in the store, each to the same one at the target').conflicts(
      'namespace',
    ),
    new Option('--dry-run', 'only list what would be copied'),
  ],
  examples: [
    'reprise copy sqlite:.reprise/reprise.db sqlite:backup.db --dry-run',
    'reprise copy sqlite:.reprise/reprise.db sqlite:backup.db',
    'reprise copy sqlite:.reprise/reprise.db sqlite:backup.db demo --into kept',
  ],
  run: async (context, [from = '', to = '', ...sessions], options) => {
    const into = textOption(options, 'into');
    const dryRun = flagOption(options, 'dryRun');
    const since = timeOf(textOption(options, 'since'));
    await using pair = await openPair(context, { from, to, into, dryRun });
    const allNamespaces = flagOption(options, 'allNamespaces');
    const chosen = await chosenOf(pair.from, { store: from, sessions, since, allNamespaces });
    const target = (namespace: string): Reprise => pair.to.namespace(into ?? namespace);
    const rows = await copyAll(context, pair.from, target, chosen, dryRun);
    await print(context, rows, { dryRun, hasNamespaces: allNamespaces });
    if (dryRun && rows.some(({ outcome }) => !['unchanged', 'refused'].includes(outcome))) {
      const asked = { into, since: textOption(options, 'since'), allNamespaces };
      context.out.next(['reprise copy', ...[from, to].map(shownStore), ...words(sessions, asked)].join(' '));
    } else if (rows.length > 0 && !dryRun) next(context, to, rows, into);
    return rows.every((row) => row.outcome !== 'refused') ? done : no;
  },
};

/** Returns the rest of the command line, to be typed again. */
function words(
  sessions: readonly string[],
  asked: { readonly into: string | undefined; readonly since: string | undefined; readonly allNamespaces: boolean },
): string[] {
  return [
    ...sessions.map(quoted),
    ...(asked.since === undefined ? [] : ['--since', quoted(asked.since)]),
    ...(asked.into === undefined ? [] : ['--into', quoted(asked.into)]),
    ...(asked.allNamespaces ? ['--all-namespaces'] : []),
  ];
}

/** Writes a store as it was given, without its password. */
const shownStore = (store: string): string => quoted(withoutPassword(store));

interface Choice {
  readonly store: string;
  readonly sessions: readonly string[];
  readonly since: string | undefined;
  readonly allNamespaces: boolean;
}

/** Finds the sessions to copy, oldest change first, so that the target lists them in the same order. */
async function chosenOf(from: Reprise, { store, sessions, since, allNamespaces }: Choice): Promise<SessionRecord[]> {
  const records: SessionRecord[] = [];
  for await (const record of from.sessions({ allNamespaces })) {
    if (sessions.length === 0 ? isStaged(record) : !sessions.includes(record.session)) continue;
    if (since === undefined || isChangedSince(record, since)) records.push(record);
  }
  const missing = sessions.find((id) => !records.some(({ session }) => session === id));
  if (missing !== undefined && since === undefined) throw missingSession(missing, from.currentNamespace, store);
  return records.reverse();
}

function missingSession(session: string, namespace: string, store: string): RepriseError {
  return new RepriseError(
    'session.not-found',
    `Cannot copy session ${JSON.stringify(session)}: it does not exist in namespace "${namespace}"`,
    {
      hint: `List the sessions: reprise list --all-namespaces --store ${shownStore(store)}`,
      details: { session, namespace },
    },
  );
}

/** Copies the sessions one by one. A session that is refused does not stop the others; a store that fails does. */
async function copyAll(
  context: Context,
  from: Reprise,
  target: (namespace: string) => Reprise,
  records: readonly SessionRecord[],
  dryRun: boolean,
): Promise<CopiedRow[]> {
  const controller = new AbortController();
  const release = catchSignals(controller);
  const progress = new CopyProgressLine(context.out.progress);
  const rows: CopiedRow[] = [];
  try {
    for (const { namespace, session } of records) {
      const copying = from.namespace(namespace).copy(target(namespace), {
        sessions: [session],
        dryRun,
        signal: controller.signal,
        onProgress: (now) => progress.show(now),
      });
      const row = await copying.then(rowOf(namespace), refusalOf(namespace, session));
      rows.push(row);
      if (context.out.json === 'lines') await context.out.value(copyRow(row, dryRun));
    }
    return rows;
  } catch (error) {
    if (rows.length > 0) await print(context, rows, { dryRun, hasNamespaces: false });
    throw forOwners(error);
  } finally {
    release();
    context.out.progress.end();
  }
}

/** Explains a denied copy: a user who may record at the target may not rename a finished copy, only its owner may. */
function forOwners(error: unknown): unknown {
  if (!hasCode(error, 'store.denied')) return error;
  const { code, message, details } = error;
  const hint = 'Only the owner of the target may copy into it. Copy again as the owner: it continues where it stopped.';
  return new RepriseError(code, message, { hint, details, cause: error });
}

const rowOf =
  (namespace: string) =>
  ({ sessions: [copied] }: { readonly sessions: readonly CopiedSession[] }): CopiedRow => {
    assert(copied !== undefined, 'a copy of one session has one result');
    return { namespace, ...copied, error: null };
  };

const refusals: readonly string[] = [
  'copy.diverged',
  'copy.not-verified',
  'event.damaged',
  'event.id-reused',
  'part.damaged',
  'part.missing',
  'store.damaged',
];

const refusalOf =
  (namespace: string, session: string) =>
  (error: unknown): CopiedRow => {
    if (!(error instanceof RepriseError) || !refusals.includes(error.code)) throw error;
    const { code, message, hint = null } = error;
    return { namespace, session, outcome: 'refused', written: 0, branches: [], error: { code, message, hint } };
  };

interface PrintOptions {
  readonly dryRun: boolean;
  readonly hasNamespaces: boolean;
}

/** Prints the result of all sessions; as JSON lines, each session was printed when it was done. */
async function print({ out }: Context, rows: readonly CopiedRow[], options: PrintOptions): Promise<void> {
  if (out.json === 'object')
    await out.value({ sessions: rows.map((row) => copyRow(row, options.dryRun)) } satisfies CopyAnswer);
  else if (out.json === undefined) await out.lines(copyLines(out, rows, options));
}

function next({ out, namespace }: Context, to: string, rows: readonly CopiedRow[], into: string | undefined): void {
  const last = rows.findLast(({ outcome }) => outcome !== 'refused');
  // `next` adds the given namespace, which is the source's and would be wrong here.
  if (last === undefined || (namespace !== undefined && into !== undefined)) return;
  const place = `--store ${shownStore(to)}${into === undefined ? '' : ` --namespace ${quoted(into)}`}`;
  out.next(`reprise list ${place}`, `reprise verify ${refText({ session: last.session })} ${place}`);
}
