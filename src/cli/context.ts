import { existsSync } from 'node:fs';
import { RepriseError } from '../core/error.ts';
import { given } from '../core/json.ts';
import { nearest } from '../core/nearest.ts';
import { mainBranch, parseRef, type Ref } from '../core/ref.ts';
import type { Reprise } from '../engine/reprise.ts';
import type { Session } from '../engine/session.ts';
import { type LoadedConfig, nearestConfig } from '../node/config-file.ts';
import { openReprise } from '../open-reprise.ts';
import { demoFile } from './demo-file.ts';
import type { GlobalOptions } from './global-options.ts';
import { Output } from './terminal/output.ts';
import { typed } from './typed.ts';

// Enough to find a typo in, few enough that a mistyped name is answered at once.
const namesMax = 1_000;
// Whoever waits longer than this wants to know for what.
const patienceMs = 2_000;

/** A place that was looked up: its session, its ref with `latest` resolved, and its point inside the session. */
export interface Found {
  readonly session: Session;
  readonly ref: Ref;
  readonly point: string;
}

/** How a command opens the store. */
interface StoreOpening {
  /** Whether a store that is not there is made. */
  readonly create?: boolean;
  /** How long to wait for another process, or a server that is not ready. */
  readonly busyWaitMs?: number;
}

/** What a command works with: the store it was told to use, and where to write. */
export class Context {
  readonly out: Output;
  readonly #options: GlobalOptions;
  #reprise: Reprise | undefined;
  #config: Promise<LoadedConfig | undefined> | undefined;

  constructor(options: GlobalOptions) {
    this.#options = options;
    this.out = new Output(options.json, (command) => typed(command, options));
  }

  /** The store URL as given; undefined for the default. */
  get storeUrl(): string | undefined {
    return this.#options.store;
  }

  /** The namespace as given; undefined for that of the configuration or the default one. */
  get namespace(): string | undefined {
    return this.#options.namespace;
  }

  /**
   * The project's configuration; undefined if it has none. A command that starts agents asks for it first, so that the
   * store is opened with its prices and masking also where another store is named.
   */
  config(): Promise<LoadedConfig | undefined> {
    this.#config ??= nearestConfig();
    return this.#config;
  }

  /** Opens the store. It is never made by looking at it. */
  async open({ create = false, busyWaitMs }: StoreOpening = {}): Promise<Reprise> {
    this.#reprise ??= await this.#open(create, busyWaitMs);
    return this.#reprise;
  }

  async #open(create: boolean, busyWaitMs: number | undefined): Promise<Reprise> {
    const { store, namespace } = this.#options;
    const loaded = store === undefined || this.#config !== undefined ? await this.config() : undefined;
    const opened = openReprise({
      create,
      config: loaded?.file ?? false,
      onRead: (events) => this.out.progress.add(events),
      ...given({ store, namespace, busyWaitMs }),
    });
    return this.patient(opened).catch(noStore);
  }

  /** Waits for what another process may keep waiting; whoever waits for long, and sees nothing read, is told for what. */
  async patient<Value>(work: Promise<Value>): Promise<Value> {
    const wait = setInterval(() => {
      if (this.out.progress.idleMs < patienceMs / 2) return;
      clearInterval(wait);
      this.out.say('Waiting for the store, which another process may hold …');
    }, patienceMs);
    return work.finally(() => clearInterval(wait));
  }

  /** Reads a ref and opens its session; a typo is answered with what is nearest. */
  async at(text: string): Promise<Found> {
    parsedRef(text);
    const reprise = await this.open();
    const ref = await reprise.resolve(text);
    const session = await openSession(reprise, ref.session);
    await checkBranch(session, ref.branch);
    return { session, ref, point: pointText(ref) };
  }

  /** As {@link Context.branch}, but a session that is not there is made, and with it the store. */
  async made(text: string): Promise<Found & { readonly created: boolean }> {
    const { session, branch, at } = parsedRef(text);
    if (session === 'latest' || at.kind !== 'head') return { ...(await this.branch(text)), created: false };
    const reprise = await this.open({ create: true });
    let created = false;
    try {
      // Only the branch that every session begins with can be made with it.
      if (branch === mainBranch) created = (await reprise.createSession(session)) !== undefined;
    } catch (error) {
      if (!(error instanceof RepriseError) || error.code !== 'session.exists') throw error;
    }
    return { ...(await this.branch(text)), created };
  }

  /** Reads a ref that must name a point: what is changed there is not to be guessed. */
  async point(text: string): Promise<Found> {
    parsedRef(text);
    if (text.includes('@')) return this.at(text);
    throw new RepriseError('ref.invalid', `Cannot use ${JSON.stringify(text)}: it names a branch and no point on it`, {
      hint: `Write which one: ${JSON.stringify(`${text}@SEQ`)}, with a seq as "reprise replay ${text}" shows it.`,
    });
  }

  /** Reads a ref that names a branch and no point in its past. */
  async branch(text: string): Promise<Found> {
    const { at } = parsedRef(text);
    if (at.kind === 'head') return this.at(text);
    const branch = text.slice(0, text.indexOf('@'));
    throw new RepriseError('ref.invalid', `Cannot use ${JSON.stringify(text)}: only the branch can be named here`, {
      hint: `This is about the whole branch: write ${JSON.stringify(branch)}.`,
    });
  }

  async close(): Promise<void> {
    await this.#reprise?.close();
  }
}

/** Nobody who only looks wants to hear that the store could be created. */
function noStore(error: unknown): never {
  if (!(error instanceof RepriseError) || error.code !== 'store.not-found') throw error;
  throw new RepriseError(error.code, error.message, { hint: missingHint(error), details: error.details, cause: error });
}

/** What to do about a store that is not there. */
export function missingHint({ hint, details }: RepriseError): string {
  // A database is not made by recording into it.
  if (details['postgres'] !== undefined && hint !== undefined) return hint;
  const isFile = details['schema'] === undefined;
  const told = isFile && existsSync(demoFile) ? ` The story of the demo is in --store sqlite:${demoFile}.` : '';
  return `Record something first, or name another store with --store or REPRISE_STORE; "reprise doctor --create" makes an empty one.${told}`;
}

const places: readonly string[] = ['before', 'turn', 'run', 'time', 'head'];

/** Refuses a ref that cannot be read, with what was probably meant, before anything is opened. */
function parsedRef(text: string): Ref {
  try {
    return parseRef(text);
  } catch (error) {
    const word = /@([a-z]+)/i.exec(text)?.[1];
    const near = word === undefined || places.includes(word) ? undefined : nearest(word.toLowerCase(), places);
    if (!(error instanceof RepriseError) || near === undefined) throw error;
    throw withHint(error, `Did you mean "@${near}${near === 'head' ? '' : ':…'}"? ${error.hint ?? ''}`);
  }
}

async function openSession(reprise: Reprise, id: string): Promise<Session> {
  try {
    return await reprise.session(id);
  } catch (error) {
    if (!(error instanceof RepriseError) || error.code !== 'session.not-found') throw error;
    const names: string[] = [];
    for await (const record of reprise.sessions()) if (names.push(record.session) >= namesMax) break;
    throw withHint(error, suggestion(nearest(id, names), 'reprise list'));
  }
}

async function checkBranch(session: Session, name: string): Promise<void> {
  try {
    await session.branch(name);
  } catch (error) {
    if (!(error instanceof RepriseError) || error.code !== 'branch.not-found') throw error;
    const branches = await branchNames(session);
    const listed = branches.slice(0, 8).join(', ') + (branches.length > 8 ? ', …' : '');
    throw withHint(error, suggestion(nearest(name, branches), `reprise list. There are: ${listed}`));
  }
}

/** The branches of a session, by name. */
export async function branchNames(session: Session): Promise<string[]> {
  const branches: string[] = [];
  const open = [await session.tree()];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    branches.push(node.branch);
    open.push(...node.children);
  }
  return branches;
}

const suggestion = (found: string | undefined, list: string): string =>
  found === undefined ? `See: ${list}` : `Did you mean "${found}"? Otherwise see: ${list}`;

function withHint(error: RepriseError, hint: string): RepriseError {
  return new RepriseError(error.code, error.message, { hint: hint.trim(), details: error.details, cause: error });
}

/** The point of a ref inside its session. */
function pointText(ref: Ref): string {
  const branch = encodeURIComponent(ref.branch);
  switch (ref.at.kind) {
    case 'head':
      return branch;
    case 'seq':
      return `${branch}@${ref.at.seq}`;
    case 'before':
      return `${branch}@${ref.at.seq - 1}`;
    case 'turn':
      return `${branch}@turn:${ref.at.turn}`;
    case 'run':
      return `${branch}@run:${encodeURIComponent(ref.at.run)}`;
    case 'time':
      return `${branch}@time:${ref.at.time}`;
  }
}
