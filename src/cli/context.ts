import { existsSync } from 'node:fs';
import { hasCode, RepriseError } from '../core/error.ts';
import { given, type JsonInput } from '../core/json.ts';
import { nearest } from '../core/nearest.ts';
import type { ForeignFormat } from '../core/recording/foreign-format.ts';
import { mainBranch, parseRef, type Ref, refText } from '../core/ref.ts';
import type { Reprise } from '../engine/reprise.ts';
import type { Session } from '../engine/session.ts';
import type { LoadedConfig } from '../node/config-file.ts';
import { checkShown, loadProject, mayHold, type Project, readProject, settingOf } from '../node/project.ts';
import { absoluteUrl, type ChosenStore, chooseStore } from '../node/store-location.ts';
import { branchesOf } from '../reading/branch-tree.ts';
import { findWork } from '../reading/find-work.ts';
import { type OpenRef, openRef } from '../reading/open-ref.ts';
import { demoFile } from './demo-file.ts';
import type { GlobalOptions } from './global-options.ts';
import { Output } from './terminal/output.ts';
import { typed } from './typed.ts';

// Enough names to find a typo, few enough to answer at once.
const namesMax = 1_000;
// After this long, tell the user what the command is waiting for.
const patienceMs = 2_000;

/** How a command opens the store. */
interface StoreOpening {
  /** Creates a store that does not exist. */
  readonly create?: boolean;
  /** How long to wait for a different process, or for a server that is not ready. */
  readonly busyWaitMs?: number;
}

/** The surroundings of a command: the store to use, and where to write. */
export class Context {
  readonly out: Output;
  readonly #options: GlobalOptions;
  #reprise: Reprise | undefined;
  #project: Project | undefined;

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
   * Runs the project's configuration; undefined if there is none. Only a command that needs more of it than
   * settings have calls it, before it opens the store, so that its prices and masking apply even to a store given with
   * `--store`.
   */
  async config(): Promise<LoadedConfig | undefined> {
    if (this.#project?.config === undefined) {
      const project = await loadProject();
      checkShown(project);
      this.#project = project;
    }
    return this.#project.config;
  }

  /**
   * Returns the project's own formats. They are code, which no settings can have, so this runs a configuration whose
   * text names them, and no other. A command calls it before it opens the store, which then knows them.
   */
  async formats(): Promise<readonly ForeignFormat[]> {
    const config = mayHold(this.project(), 'formats') ? await this.config() : this.project().config;
    return config?.config.formats ?? [];
  }

  /** Returns the files of the project: with its configuration, if the command has run it, else its settings alone. */
  project(): Project {
    this.#project ??= readProject();
    return this.#project;
  }

  /** Returns the project, or nothing if it cannot be used: a store that is given is read wherever the user is. */
  #projectOrNone(): Project {
    try {
      return this.project();
    } catch {
      return {};
    }
  }

  /** Returns the store that the command uses, and what chose it. */
  chosenStore(): ChosenStore {
    return chooseStore(this.storeUrl, this.storeUrl === undefined ? this.project() : {});
  }

  /** Returns the namespace that the command works in. */
  chosenNamespace(): string {
    const { store, namespace } = this.#options;
    // A namespace is a wall inside a store: that of the project says nothing about a store that is given.
    return namespace ?? (store === undefined ? settingOf(this.project(), 'namespace') : undefined) ?? 'default';
  }

  /** Opens the store. Reading never creates one. */
  async open({ create = false, busyWaitMs }: StoreOpening = {}): Promise<Reprise> {
    this.#reprise ??= await this.#open(create, busyWaitMs);
    return this.#reprise;
  }

  async #open(create: boolean, busyWaitMs: number | undefined): Promise<Reprise> {
    const { location } = this.chosenStore();
    const { config, settings } = this.#options.store === undefined ? this.project() : this.#projectOrNone();
    const masking = settings?.settings.masking;
    // A command that opens no store, such as `serve`, should not wait for the verbs.
    const { openWith } = await import('../open-reprise.ts');
    const options = {
      create,
      config: config?.config ?? (false as const),
      store: absoluteUrl(location),
      namespace: this.chosenNamespace(),
      ...given({ masking, busyWaitMs }),
    };
    const opened = openWith(options, { onRead: (events) => this.out.progress.add(events) });
    return this.patient(opened).catch(noStore);
  }

  /** Waits for work that a different process may delay, and says so if it takes long and nothing is read. */
  async patient<Value>(work: Promise<Value>): Promise<Value> {
    const wait = setInterval(() => {
      if (this.out.progress.idleMs < patienceMs / 2) return;
      clearInterval(wait);
      this.out.say('Waiting for the store. Another process may be using it …');
    }, patienceMs);
    return work.finally(() => clearInterval(wait));
  }

  /**
   * Looks up a ref and opens its session; the error for a typo suggests the closest name. A run or a task can be named
   * in place of a session: `RUN`, `task:ID`, `SESSION@task:ID`.
   */
  async at(text: string): Promise<OpenRef> {
    const [, place, task] = /^(?:(.+)@)?task:(.+)$/s.exec(text) ?? [];
    if (task !== undefined) return this.#task(task, place);
    try {
      return await this.session(text);
    } catch (error) {
      const { session, branch, at } = parsedRef(text);
      const isName = branch === mainBranch && at.kind === 'head' && !text.includes('/');
      if (!isName || session === 'latest' || !hasCode(error, 'session.not-found')) throw error;
      const work = { run: session };
      const found = await findWork(await this.open(), work);
      if (found === undefined) throw error;
      return { ...(await openRef(await this.open(), found)), work };
    }
  }

  /** Finds a task: on a branch if one is given, else in the newest session that has it. */
  async #task(task: string, place: string | undefined): Promise<OpenRef> {
    const within = place === undefined ? undefined : (await this.branch(place)).ref;
    const reprise = await this.open();
    const named = place?.includes('/') === true ? within : within && { session: within.session, branch: undefined };
    const found = await findWork(reprise, { task }, named);
    if (found !== undefined) return { ...(await openRef(reprise, found)), work: { task } };
    const where = within === undefined ? 'no session has it' : `${refText(within)} does not have it`;
    throw new RepriseError('event.not-found', `Cannot find task "${task}": ${where}`, {
      hint:
        place === undefined
          ? 'Add its session if that is an old one: SESSION@task:ID. See: reprise list'
          : `See: reprise replay ${place} --event-type task.started`,
    });
  }

  /** Looks up a ref whose session is named by its id; the error for a typo suggests the closest name. */
  async session(text: string): Promise<OpenRef> {
    const ref = parsedRef(text);
    const reprise = await this.open();
    try {
      return await openRef(reprise, text);
    } catch (error) {
      throw ref.session === 'latest' && hasCode(error, 'session.not-found')
        ? error
        : await withSuggestion(reprise, error);
    }
  }

  /** Does the same as {@link Context.branch}, but creates a session that does not exist, and its store. */
  async created(text: string): Promise<OpenRef & { readonly created: boolean }> {
    const { session, branch, at } = parsedRef(text);
    if (session === 'latest' || at.kind !== 'head') return { ...(await this.branch(text)), created: false };
    const reprise = await this.open({ create: true });
    let created = false;
    try {
      // A new session has only its first branch.
      if (branch === mainBranch) created = (await reprise.createSession(session)) !== undefined;
    } catch (error) {
      if (!hasCode(error, 'session.exists')) throw error;
    }
    return { ...(await this.branch(text)), created };
  }

  /** Looks up a ref that must name a point: a command that changes something there must not guess. */
  async point(text: string): Promise<OpenRef> {
    parsedRef(text);
    if (text.includes('@')) return this.session(text);
    throw new RepriseError('ref.invalid', `Cannot use ${JSON.stringify(text)}: it names a branch but no point on it`, {
      hint: `Add a seq: ${JSON.stringify(`${text}@SEQ`)}. "reprise replay ${text}" shows them.`,
    });
  }

  /** Looks up a ref that must name a branch, and no point in its past. */
  async branch(text: string): Promise<OpenRef> {
    const { session, branch, at } = parsedRef(text);
    if (at.kind === 'head') return this.session(text);
    throw new RepriseError(
      'ref.invalid',
      `Cannot use ${JSON.stringify(text)}: this command takes a branch, not a point`,
      {
        hint: `Write ${JSON.stringify(refText({ session, branch }))}.`,
      },
    );
  }

  /** Masks the secrets in what a person typed, before it is stored, and names the rules that found them. */
  async masked<Typed extends object>(session: Session, typed: Typed): Promise<Typed> {
    this.checkMasking();
    const mask = await session.masker();
    const { data } = mask({ type: 'command.typed', data: { typed: typed as unknown as JsonInput } });
    const rules = data?.['masked'];
    if (!Array.isArray(rules)) return typed;
    this.out.say(`Masked before it is stored: ${rules.join(', ')}.`);
    return data?.['typed'] as unknown as Typed;
  }

  /** Refuses a project whose masking may be in a configuration that was not run: its rules would be left out. */
  checkMasking(): void {
    settingOf(this.project(), 'masking');
  }

  async close(): Promise<void> {
    await this.#reprise?.close();
  }
}

/** Replaces the hint of the library, which suggests creating the store, with one for a command that only reads. */
function noStore(error: unknown): never {
  if (!hasCode(error, 'store.not-found')) throw error;
  throw withHint(error, missingHint(error));
}

/** Returns the hint for a store that does not exist. */
export function missingHint({ hint, details }: RepriseError): string {
  // Recording does not create a database.
  if (details['postgres'] !== undefined && hint !== undefined) return hint;
  const isFile = details['schema'] === undefined;
  const demo = isFile && existsSync(demoFile) ? ` The demo is in --store sqlite:${demoFile}.` : '';
  return `Record something first, choose a different store with --store or REPRISE_STORE, or create an empty one with "reprise doctor --create".${demo}`;
}

const atForms: readonly string[] = ['before', 'turn', 'story', 'run', 'time', 'head'];

/** Parses a ref before anything is opened; the error for a typo suggests the closest form. */
function parsedRef(text: string): Ref {
  try {
    return parseRef(text);
  } catch (error) {
    const word = /@([a-z]+)/i.exec(text)?.[1];
    const near = word === undefined || atForms.includes(word) ? undefined : nearest(word.toLowerCase(), atForms);
    if (!(error instanceof RepriseError) || near === undefined) throw error;
    throw withHint(error, `Did you mean "@${near}${near === 'head' ? '' : ':…'}"? ${error.hint ?? ''}`);
  }
}

/** Adds the closest name to the error for a session or branch that does not exist. */
async function withSuggestion(reprise: Reprise, error: unknown): Promise<unknown> {
  if (hasCode(error, 'session.not-found')) {
    const names: string[] = [];
    for await (const record of reprise.sessions()) if (names.push(record.session) >= namesMax) break;
    return withHint(error, suggestion(nearest(String(error.details['session']), names), 'See: reprise list'));
  }
  if (!hasCode(error, 'branch.not-found')) return error;
  const { session, branch } = error.details;
  const names = (await branchesOf(await reprise.session(String(session)))).map((node) => node.branch);
  const listed = names.slice(0, 8).join(', ') + (names.length > 8 ? ', …' : '');
  return withHint(error, suggestion(nearest(String(branch), names), `The branches are: ${listed}`));
}

const suggestion = (near: string | undefined, otherwise: string): string =>
  near === undefined ? otherwise : `Did you mean "${near}"? ${otherwise}`;

function withHint(error: RepriseError, hint: string): RepriseError {
  return new RepriseError(error.code, error.message, { hint: hint.trim(), details: error.details, cause: error });
}
