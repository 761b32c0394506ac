import { Option } from 'commander';
import { RepriseError } from '../../core/error.ts';
import { refText } from '../../core/ref.ts';
import type { SessionRecord } from '../../core/store/event-store.ts';
import { withoutPassword } from '../../core/store/store-url.ts';
import type { CopiedSession } from '../../engine/copying/copy-options.ts';
import { isStaged } from '../../engine/copying/copy-standing.ts';
import type { Reprise } from '../../engine/reprise.ts';
import type { CommandSpec } from '../command.ts';
import type { Context } from '../context.ts';
import { done, no } from '../exit-code.ts';
import { timeOf } from '../options/filter-options.ts';
import { type CopyRow, copyLines, copyShape } from '../render/copy-table.ts';
import { CopyProgressLine } from '../running/copy-progress.ts';
import { openPair } from '../running/store-pair.ts';
import { catchSignals } from '../stop-signals.ts';
import { quoted } from '../typed.ts';

/** `reprise copy`. */
export const copy: CommandSpec = {
  arguments: [
    { name: '<from>', about: 'the store to read: sqlite:PATH or postgres://…' },
    { name: '<to>', about: 'the store to write, of either kind; it is made if it is not there' },
    { name: '[sessions...]', about: 'only these sessions (default: all of the namespace)' },
  ],
  options: [
    new Option('--since <time>', 'only sessions changed since then: ISO 8601, or 90s, 15m, 2h, 3d ago'),
    new Option('--into <namespace>', 'behind another wall at the target').conflicts('allNamespaces'),
    new Option('--all-namespaces', 'behind every wall, each to the one of its name').conflicts('namespace'),
    new Option('--dry-run', 'only tell what would be copied'),
  ],
  examples: [
    'reprise copy sqlite:.reprise/reprise.db sqlite:backup.db --dry-run',
    'reprise copy sqlite:.reprise/reprise.db sqlite:backup.db',
    'reprise copy sqlite:.reprise/reprise.db sqlite:backup.db demo --into kept',
  ],
  run: async (context, [from = '', to = '', ...sessions], options) => {
    const into = options['into'] as string | undefined;
    const dryRun = options['dryRun'] === true;
    const since = timeOf(options['since'] as string | undefined);
    await using pair = await openPair(context, { from, to, into, dryRun });
    const allNamespaces = options['allNamespaces'] === true;
    const chosen = await chosenOf(pair.from, { store: from, sessions, since, allNamespaces });
    const target = (namespace: string): Reprise => pair.to.namespace(into ?? namespace);
    const rows = await copyAll(context, pair.from, target, chosen, dryRun);
    await tell(context, rows, { dryRun, hasNamespaces: allNamespaces });
    if (dryRun && rows.some(({ outcome }) => !['unchanged', 'refused'].includes(outcome))) {
      const asked = { into, since: options['since'] as string | undefined, allNamespaces };
      context.out.next(['reprise copy', ...[from, to].map(shownStore), ...words(sessions, asked)].join(' '));
    } else if (rows.length > 0 && !dryRun) next(context, to, rows, into);
    return rows.every((row) => row.outcome !== 'refused') ? done : no;
  },
};

/** What else was typed, to be typed again. */
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

/** A store as it was written, without a password that may be in it. */
const shownStore = (store: string): string => quoted(withoutPassword(store));

interface Choice {
  readonly store: string;
  readonly sessions: readonly string[];
  readonly since: string | undefined;
  readonly allNamespaces: boolean;
}

/** The sessions to copy, the one appended to last at the end, so that the target lists them in the same order. */
async function chosenOf(from: Reprise, { store, sessions, since, allNamespaces }: Choice): Promise<SessionRecord[]> {
  const records: SessionRecord[] = [];
  for await (const record of from.sessions({ allNamespaces })) {
    if (sessions.length === 0 ? isStaged(record) : !sessions.includes(record.session)) continue;
    if (since === undefined || record.updatedAt >= since) records.push(record);
  }
  const missing = sessions.find((id) => !records.some(({ session }) => session === id));
  if (missing !== undefined && since === undefined) throw notThere(missing, from.currentNamespace, store);
  return records.reverse();
}

function notThere(session: string, namespace: string, store: string): RepriseError {
  return new RepriseError(
    'session.not-found',
    `Cannot copy session ${JSON.stringify(session)}: there is none of that id in namespace "${namespace}"`,
    {
      hint: `See what there is: reprise list --all-namespaces --store ${shownStore(store)}`,
      details: { session, namespace },
    },
  );
}

/** Copies one session after the other. One that is refused does not keep the others waiting; a store that fails does. */
async function copyAll(
  context: Context,
  from: Reprise,
  target: (namespace: string) => Reprise,
  records: readonly SessionRecord[],
  dryRun: boolean,
): Promise<CopyRow[]> {
  const controller = new AbortController();
  const release = catchSignals(controller);
  const progress = new CopyProgressLine(context.out.progress);
  const rows: CopyRow[] = [];
  try {
    for (const { namespace, session } of records) {
      const copying = from.namespace(namespace).copy(target(namespace), {
        sessions: [session],
        dryRun,
        signal: controller.signal,
        onProgress: (told) => progress.show(told),
      });
      const row = await copying.then(rowOf(namespace), refusalOf(namespace, session));
      rows.push(row);
      if (context.out.json === 'lines') await context.out.value(copyShape(row, dryRun));
    }
    return rows;
  } catch (error) {
    if (rows.length > 0) await tell(context, rows, { dryRun, hasNamespaces: false });
    throw ownersOnly(error);
  } finally {
    release();
    context.out.progress.end();
  }
}

/** Somebody who may record into the target gets as far as the name of the copy, which only its owner may give. */
function ownersOnly(error: unknown): unknown {
  if (!(error instanceof RepriseError) || error.code !== 'store.denied') return error;
  const { code, message, details } = error;
  const hint =
    'Copying takes the rights of the owner of the target. Copy again as the owner: it goes on where it stopped.';
  return new RepriseError(code, message, { hint, details, cause: error });
}

const rowOf =
  (namespace: string) =>
  ({ sessions: [copied] }: { readonly sessions: readonly CopiedSession[] }): CopyRow => ({
    namespace,
    ...(copied as CopiedSession),
    error: null,
  });

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
  (error: unknown): CopyRow => {
    if (!(error instanceof RepriseError) || !refusals.includes(error.code)) throw error;
    const { code, message, hint = null } = error;
    return { namespace, session, outcome: 'refused', written: 0, branches: [], error: { code, message, hint } };
  };

interface Telling {
  readonly dryRun: boolean;
  readonly hasNamespaces: boolean;
}

/** What was done, once all is; as lines of JSON, each session was told already. */
async function tell({ out }: Context, rows: readonly CopyRow[], telling: Telling): Promise<void> {
  if (out.json === 'object') await out.value({ sessions: rows.map((row) => copyShape(row, telling.dryRun)) });
  else if (out.json === undefined) await out.lines(copyLines(out, rows, telling));
}

function next({ out, namespace }: Context, to: string, rows: readonly CopyRow[], into: string | undefined): void {
  const last = rows.findLast(({ outcome }) => outcome !== 'refused');
  // A namespace that was given is added to what is told, and here it would be that of the source.
  if (last === undefined || (namespace !== undefined && into !== undefined)) return;
  const place = `--store ${shownStore(to)}${into === undefined ? '' : ` --namespace ${quoted(into)}`}`;
  out.next(`reprise list ${place}`, `reprise verify ${refText({ session: last.session })} ${place}`);
}
