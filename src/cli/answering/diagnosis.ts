import { existsSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { hasCode, RepriseError } from '../../core/error.ts';
import { refText } from '../../core/ref.ts';
import type { BranchNode } from '../../core/session/session-log.ts';
import type { StoreAdvice, StoreHealth } from '../../core/store/store-health.ts';
import type { Reprise } from '../../engine/reprise.ts';
import { release } from '../../node/release.ts';
import { chooseStore, shownUrl } from '../../node/store-location.ts';
import { branchesOf, ownEvents } from '../../reading/branch-tree.ts';
import { type Context, missingHint } from '../context.ts';

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
  'store.full': 'Free up space on the disk.',
};

/** Checks the store. An error on the way is a finding and is not thrown: broken stores are what this is for. */
export async function diagnose(context: Context, options: DiagnoseOptions): Promise<DoctorAnswer> {
  const loaded = context.storeUrl === undefined ? await context.config() : undefined;
  const { location } = chooseStore(context.storeUrl, loaded);
  const free = location.kind === 'sqlite' ? freeBytesAt(location.path) : null;
  const found: DoctorAnswer = {
    ok: false,
    reprise: release(),
    node: process.versions.node,
    location: shownUrl(location),
    namespace: context.namespace ?? loaded?.config.namespace ?? 'default',
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
    return await examine(await context.open({ create: options.create }), found, options);
  } catch (error) {
    if (!(error instanceof RepriseError)) throw error;
    return { ...found, findings: [...found.findings, findingOf(error)] };
  }
}

async function examine(reprise: Reprise, found: DoctorAnswer, options: DiagnoseOptions): Promise<DoctorAnswer> {
  const { location: _location, advice, problems, ...store } = await reprise.health();
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

/** Counts sessions, branches and events, and verifies them if asked to. */
async function survey(reprise: Reprise, { verify, onTotal }: DiagnoseOptions): Promise<Survey> {
  const counts = { sessions: 0, branches: 0, events: 0, verified: verify ? 0 : null };
  const found: { readonly id: string; readonly node: BranchNode }[] = [];
  for await (const { session: id } of reprise.sessions()) {
    const nodes = await branchesOf(await reprise.session(id));
    counts.sessions += 1;
    counts.branches += nodes.length;
    for (const node of nodes) counts.events += ownEvents(node);
    if (verify) found.push(...nodes.map((node) => ({ id, node })));
  }
  onTotal?.(found.reduce((sum, { node }) => sum + node.head, 0));
  const bad: Finding[] = [];
  for (const { id, node } of found) {
    const { ok, firstBad, reason } = await (await reprise.session(id)).verify({ at: { branch: node.branch } });
    const ref = refText({ session: id, branch: node.branch });
    const message = `${ref} does not verify at seq ${String(firstBad)}: ${reason ?? ''}`;
    if (!ok) bad.push({ code: 'history.changed', message, todo: `${copyFirst}. Then run "reprise verify ${ref}".` });
  }
  return { counts: { ...counts, verified: verify ? found.length : null }, bad };
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
