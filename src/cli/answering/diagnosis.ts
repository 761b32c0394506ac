import { existsSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { RepriseError } from '../../core/error.ts';
import { refText } from '../../core/ref.ts';
import type { BranchNode } from '../../core/session/session-log.ts';
import type { StoreAdvice, StoreHealth } from '../../core/store/store-health.ts';
import type { Reprise } from '../../engine/reprise.ts';
import { chooseStore, shownUrl } from '../../node/store-location.ts';
import { type Context, missingHint } from '../context.ts';
import { version } from '../version.ts';

/** Something that is not as it should be, and what to do about it. */
export interface Finding {
  readonly code: string;
  readonly message: string;
  readonly todo: string | null;
}

/** What `doctor` found. What could not be looked at is null. */
export interface Diagnosis {
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
  /** How many branches were verified; null if that was not asked for. */
  readonly verified: number | null;
  readonly findings: readonly Finding[];
  /** What could be better; the store is sound all the same. */
  readonly advice: readonly Omit<Finding, 'code'>[];
}

/** How closely to look. */
export interface DiagnoseOptions {
  readonly verify: boolean;
  /** Whether a store that is not there is made. */
  readonly create: boolean;
  /** Told how many events there are to verify, before the first is. */
  readonly onTotal?: (events: number) => void;
}

// A disk with less than this left will stop the next recording.
const freeBytesMin = 67_108_864;

const copyFirst = 'Copy the file before anything else';
const todos: Readonly<Record<string, string>> = {
  'store.newer': 'Install the newer release of Reprise that wrote it; nothing was changed.',
  'store.busy': 'Another process holds it: wait for it to end, or end it, and ask again.',
  'store.damaged': `${copyFirst}. Then "reprise verify" of each session tells which histories are whole, or restore a backup.`,
  'store.read-only': 'Give this user the right to write the file and its directory, or go on reading.',
  'store.full': 'Make room on the disk.',
};

/** Looks at the store: an error on the way is a finding, since the store being ill is what a doctor is for. */
export async function diagnose(context: Context, options: DiagnoseOptions): Promise<Diagnosis> {
  const loaded = context.storeUrl === undefined ? await context.config() : undefined;
  const { location } = chooseStore(context.storeUrl, loaded);
  const free = location.kind === 'sqlite' ? freeBytesAt(location.path) : null;
  const found: Diagnosis = {
    ok: false,
    reprise: version(),
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

async function examine(reprise: Reprise, found: Diagnosis, options: DiagnoseOptions): Promise<Diagnosis> {
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

/** A file that SQLite finds unsound is damaged; what a server says is about how it is run. */
function problemOf(kind: string, { message, todo }: StoreAdvice): Finding {
  const code = kind === 'postgres' ? 'store.settings' : 'store.damaged';
  return { code, message, todo: todo ?? todos[code] ?? null };
}

interface Survey {
  readonly counts: Pick<Diagnosis, 'sessions' | 'branches' | 'events' | 'verified'>;
  readonly bad: readonly Finding[];
}

/** Counts what is there, and verifies it if that was asked for. */
async function survey(reprise: Reprise, { verify, onTotal }: DiagnoseOptions): Promise<Survey> {
  const counts = { sessions: 0, branches: 0, events: 0, verified: verify ? 0 : null };
  const found: { readonly id: string; readonly node: BranchNode }[] = [];
  for await (const { session: id } of reprise.sessions()) {
    const nodes = nodesOf(await (await reprise.session(id)).tree());
    counts.sessions += 1;
    counts.branches += nodes.length;
    for (const { head, parent } of nodes) counts.events += head - (parent?.seq ?? 0);
    if (verify) found.push(...nodes.map((node) => ({ id, node })));
  }
  onTotal?.(found.reduce((sum, { node }) => sum + node.head, 0));
  const bad: Finding[] = [];
  for (const { id, node } of found) {
    const { ok, firstBad, reason } = await (await reprise.session(id)).verify({ at: { branch: node.branch } });
    const ref = refText({ session: id, branch: node.branch });
    const message = `${ref} does not verify from seq ${String(firstBad)} on: ${reason ?? ''}`;
    if (!ok) bad.push({ code: 'history.changed', message, todo: `${copyFirst}. See "reprise verify ${ref}".` });
  }
  return { counts: { ...counts, verified: verify ? found.length : null }, bad };
}

function nodesOf(node: BranchNode): BranchNode[] {
  const nodes = [node];
  for (let index = 0; index < nodes.length; index++) nodes.push(...(nodes[index]?.children ?? []));
  return nodes;
}

/** What PostgreSQL says where another process is in the way. */
const locks: readonly string[] = ['40001', '40P01', '55P03'];

function findingOf(error: RepriseError): Finding {
  const { code, message, hint } = error;
  if (code === 'store.not-found') return { code, message, todo: missingHint(error) };
  const { postgres } = error.details;
  // A server says what is the case; the words for a file do not fit it, unless somebody holds it.
  if (typeof postgres === 'string' && !locks.includes(postgres) && hint !== undefined)
    return { code, message, todo: hint };
  const advice = code === 'store.damaged' && hint !== undefined ? `${copyFirst}. ${hint}` : todos[code];
  return { code, message, todo: advice ?? hint ?? null };
}

/** The room left where the store is or would be. */
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
