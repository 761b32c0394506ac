import { RepriseError } from '../core/error.ts';
import { nearest } from './nearest.ts';
import type { Reprise } from '../engine/reprise.ts';
import type { Session } from '../engine/session.ts';
import type { Ref } from '../core/ref.ts';
import { openReprise } from '../open-reprise.ts';
import { Output } from './output.ts';

/** What every command takes. */
export interface GlobalOptions {
  readonly store?: string;
  readonly namespace?: string;
  readonly json?: string | boolean;
}

/** What a command works with: the store it was told to use, and where to write. */
export class Context {
  readonly out: Output;
  readonly #options: GlobalOptions;
  #reprise: Reprise | undefined;

  constructor(options: GlobalOptions) {
    this.#options = options;
    this.out = new Output(jsonOf(options.json));
  }

  /** The store URL as given, for the commands that are printed. */
  get storeUrl(): string | undefined {
    return this.#options.store;
  }

  /** Opens the store. It is never made by looking at it. */
  async open(): Promise<Reprise> {
    const { store, namespace } = this.#options;
    this.#reprise ??= await openReprise({
      create: false,
      ...(store === undefined ? {} : { store }),
      ...(namespace === undefined ? {} : { namespace }),
    });
    return this.#reprise;
  }

  /** Reads a ref and opens its session; a typo is answered with what is nearest. */
  async at(text: string): Promise<{ readonly session: Session; readonly ref: Ref; readonly point: string }> {
    const reprise = await this.open();
    const ref = await reprise.resolve(text);
    const session = await this.#session(reprise, ref.session);
    await this.#checkBranch(session, ref.branch);
    return { session, ref, point: pointText(ref) };
  }

  async close(): Promise<void> {
    await this.#reprise?.close();
  }

  async #session(reprise: Reprise, id: string): Promise<Session> {
    try {
      return await reprise.session(id);
    } catch (error) {
      if (!(error instanceof RepriseError) || error.code !== 'session.not-found') throw error;
      const names: string[] = [];
      for await (const record of reprise.sessions()) if (names.push(record.session) >= 1000) break;
      throw withSuggestion(error, nearest(id, names), 'reprise list');
    }
  }

  async #checkBranch(session: Session, name: string): Promise<void> {
    try {
      await session.branch(name);
    } catch (error) {
      if (!(error instanceof RepriseError) || error.code !== 'branch.not-found') throw error;
      const { branches } = await branchNames(session);
      throw withSuggestion(error, nearest(name, branches), `reprise list --filter "session=^${session.id}$"`);
    }
  }
}

async function branchNames(session: Session): Promise<{ readonly branches: string[] }> {
  const branches: string[] = [];
  const open = [await session.tree()];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    branches.push(node.branch);
    open.push(...node.children);
  }
  return { branches };
}

function withSuggestion(error: RepriseError, found: string | undefined, list: string): RepriseError {
  const hint = found === undefined ? `${error.hint ?? ''} See: ${list}` : `Did you mean "${found}"? Otherwise see: ${list}`;
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

function jsonOf(json: string | boolean | undefined): 'lines' | 'object' | undefined {
  if (json === undefined || json === false) return undefined;
  return json === 'object' ? 'object' : 'lines';
}
