import { existsSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { hasCode, RepriseError } from '../../core/error.ts';
import type { JsonValue } from '../../core/json.ts';
import { refText } from '../../core/ref.ts';
import type { StoreAdvice, StoreHealth } from '../../core/store/store-health.ts';
import type { Reprise } from '../../engine/reprise.ts';
import type { SessionVerification } from '../../engine/reprise-options.ts';
import { release } from '../../node/release.ts';
import { shownUrl } from '../../node/store-location.ts';
import { branchesOf, ownEvents } from '../../reading/branch-tree.ts';
import { type Context, missingHint } from '../context.ts';
import { quoted } from '../typed.ts';

/** Something that is wrong, and what to do about it. */
interface Finding {
  readonly code: string;
  readonly message: string;
  readonly todo: string | null;
}

/** The health of a store, as `reprise doctor --json` prints it; null where something could not be checked. */
export interface DoctorAnswer {
  readonly ok: boolean;
  readonly reprise: string;
  readonly node: string;
  readonly location: string;
  readonly namespace: string;
  readonly store: Omit<StoreHealth, 'location' | 'advice' | 'problems'> | null;
  readonly freeBytes: number | null;
  readonly sessions: number | null;
  readonly branches: number | null;
  readonly events: number | null;
  /** How many branches were verified; null without `--verify`. */
  readonly verified: number | null;
  readonly findings: readonly Finding[];
  /** Possible improvements; the store is healthy without them. */
  readonly advice: readonly Omit<Finding, 'code'>[];
}

/** How thorough to be. */
export interface DiagnoseOptions {
  readonly verify: boolean;
  /** Creates a store that does not exist. */
  readonly create: boolean;
  /** Called with the number of events to verify, before the first one. */
  readonly onTotal?: (events: number) => void;
}

// With less free space than this, recording will soon fail.
const freeBytesMin = 67_108_864;

const copyFirst = 'Copy the file before you do anything else';
const todos: Readonly<Record<string, string>> = {
  'store.newer': 'Install the newer release of Reprise that wrote it. Nothing was changed.',
  'store.busy': 'Another process is using it: wait for it to finish or stop it, then try again.',
  'store.damaged': `${copyFirst}. Then run "reprise verify" on each session to see which histories are intact, or restore a backup.`,
  'store.read-only': 'Give this user write access to the file and its directory, or keep using it read-only.',
  'store.unreachable': 'Check that the server runs and that the address is right.',
  'store.denied': 'Ask for a token with that right.',
  'token.invalid': 'Set REPRISE_TOKEN to a token of that server: "reprise token create" makes one next to its store.',
  'store.full': 'Free up space on the disk.',
};

/** Checks the store. An error on the way is a finding and is not thrown: broken stores are what this is for. */
export async function diagnose(context: Context, options: DiagnoseOptions): Promise<DoctorAnswer> {
  return await examineBy(context, () => context.open({ create: options.create }), options);
}

/** Checks the store quickly, as plain data for the studio, with the rights of the one who asks. */
export async function examined(context: Context, reprise: Reprise): Promise<JsonValue> {
  const found = await examineBy(context, async () => reprise, { verify: false, create: false });
  return JSON.parse(JSON.stringify({ ...found, namespace: reprise.currentNamespace })) as JsonValue;
}

async function examineBy(
  context: Context,
  open: () => Promise<Reprise>,
  options: DiagnoseOptions,
): Promise<DoctorAnswer> {
  const { location } = context.chosenStore();
  const free = location.kind === 'sqlite' ? freeBytesAt(location.path) : null;
  const found: DoctorAnswer = {
    ok: false,
    reprise: release(),
    node: process.versions.node,
    location: shownUrl(location),
    namespace: context.chosenNamespace(),
    store: null,
    freeBytes: free,
    sessions: null,
    branches: null,
    events: null,
    verified: null,
    findings: [],
    advice: [],
  };
  try {
    return await examine(await open(), found, options);
  } catch (error) {
    if (!(error instanceof RepriseError)) throw error;
    return { ...found, findings: [...found.findings, findingOf(error)] };
  }
}

async function examine(reprise: Reprise, found: DoctorAnswer, options: DiagnoseOptions): Promise<DoctorAnswer> {
  const { location: _location, advice, problems, ...store } = await reprise.health({ deep: options.verify });
  const findings = [
    ...problems.map((problem) => problemOf(store.kind, problem)),
    ...(found.freeBytes !== null && found.freeBytes < freeBytesMin
      ? [{ code: 'store.full', message: 'The disk is almost full', todo: todos['store.full'] ?? null }]
      : []),
  ];
  const advised = advice.map(({ message, todo = null }) => ({ message, todo }));
  const seen = { ...found, store, findings, advice: advised };
  try {
    const { counts, bad } = await survey(reprise, options);
    return { ...seen, ...counts, findings: [...findings, ...bad], ok: findings.length + bad.length === 0 };
  } catch (error) {
    if (!(error instanceof RepriseError)) throw error;
    return { ...seen, findings: [...findings, findingOf(error)] };
  }
}

/** Names a problem: SQLite reports damage in the file, PostgreSQL reports server settings. */
function problemOf(kind: string, { message, todo }: StoreAdvice): Finding {
  const code = kind === 'postgres' ? 'store.settings' : 'store.damaged';
  return { code, message, todo: todo ?? todos[code] ?? null };
}

interface Survey {
  readonly counts: Pick<DoctorAnswer, 'sessions' | 'branches' | 'events' | 'verified'>;
  readonly bad: readonly Finding[];
}

/** Counts sessions, branches and events of the namespace; verifies every namespace if asked to. */
async function survey(reprise: Reprise, { verify, onTotal }: DiagnoseOptions): Promise<Survey> {
  const counts = { sessions: 0, branches: 0, events: 0, verified: verify ? 0 : null };
  let total = 0;
  for await (const { namespace, session: id } of reprise.sessions({ allNamespaces: verify })) {
    const nodes = await branchesOf(await reprise.namespace(namespace).session(id));
    const events = nodes.reduce((sum, node) => sum + ownEvents(node), 0);
    total += events;
    if (namespace !== reprise.currentNamespace) continue;
    counts.sessions += 1;
    counts.branches += nodes.length;
    counts.events += events;
  }
  if (!verify) return { counts, bad: [] };
  onTotal?.(total);
  const bad: Finding[] = [];
  for await (const found of reprise.verifyAll({ allNamespaces: true })) {
    counts.verified = (counts.verified ?? 0) + found.branches;
    bad.push(...findingsOf(reprise, found));
  }
  return { counts, bad };
}

/** Names the faults of a session: each branch that does not verify, and the first row of derived data that is wrong. */
function findingsOf(reprise: Reprise, { namespace, session, faults, count }: SessionVerification): Finding[] {
  const within = namespace === reprise.currentNamespace ? '' : ` --namespace ${quoted(namespace)}`;
  const events = faults.filter(({ kind }) => kind === 'event');
  const first = faults.find(({ kind }) => kind !== 'event');
  const changed = events.map(({ branch, seq, message }) => {
    const ref = refText({ session, branch });
    const todo = `${copyFirst}. Then run "reprise verify ${ref}${within}".`;
    return { code: 'history.changed', message: `${ref} does not verify at seq ${seq}: ${message}`, todo };
  });
  if (first === undefined) return changed;
  const rest = count - events.length - 1;
  const message = `${refText({ session })}: ${first.message}${rest > 0 ? `; and ${rest} more` : ''}`;
  const todo = `The log has everything: run "reprise repair ${refText({ session })}${within}".`;
  return [...changed, { code: 'derived.wrong', message, todo }];
}

/** The codes PostgreSQL returns when a different process is in the way. */
const locks: readonly string[] = ['40001', '40P01', '55P03'];

function findingOf(error: RepriseError): Finding {
  const { code, message, hint } = error;
  if (hasCode(error, 'store.not-found')) return { code, message, todo: missingHint(error) };
  const { postgres } = error.details;
  // A server's own hint is better than our advice for files, unless a lock is the problem.
  if (typeof postgres === 'string' && !locks.includes(postgres) && hint !== undefined)
    return { code, message, todo: hint };
  const advice = code === 'store.damaged' && hint !== undefined ? `${copyFirst}. ${hint}` : todos[code];
  return { code, message, todo: advice ?? hint ?? null };
}

/** Returns the free space where the store is or would be; null if it is unknown. */
function freeBytesAt(path: string): number | null {
  let directory = dirname(path);
  while (!existsSync(directory) && dirname(directory) !== directory) directory = dirname(directory);
  try {
    const { bavail, bsize } = statfsSync(directory);
    return bavail * bsize;
  } catch {
    return null;
  }
}
