/** Places to run commands in, on stores that are built once and copied. */
import { randomBytes } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, inject, type TestContext } from 'vitest';
import { type EventDraft, openReprise, type Reprise } from '../../../src/index.ts';
import { root } from '../../docs/workshop.ts';
import { Started, type WatchOptions } from './started.ts';
import { type Ran, runWarm } from './warm-process.ts';

/** The server of the vitest project `postgres`, which runs these same files; undefined in the project `e2e`, on SQLite. */
const server: string | undefined = inject('postgresUrl');

/** The store that a command finds by itself in a folder, as a person writes it. */
export const defaultUrl = 'sqlite:.reprise/reprise.db';

/** Whether the stores of this run are in PostgreSQL. */
export const isOnServer: boolean = server !== undefined;

/** Leaves a test out where stores are in PostgreSQL, and says why. Called outside a test, it is about all tests around it. */
export function skipOnServer(why: string, context?: TestContext): void {
  if (!isOnServer) return;
  const note = `on SQLite only: ${why}`;
  if (context === undefined) beforeEach((each) => each.skip(note));
  else context.skip(note);
}

/** The input and environment of a command. */
export interface RunOptions {
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Variables of npm, the tests, a terminal or a build machine. Node.js decides about colors by some of them (`CI`, `TMUX`). */
const foreign =
  /^(npm_|REPRISE|VITEST|NODE_OPTIONS|EDITOR$|VISUAL$|COLUMNS$|NO_COLOR|NODE_DISABLE_COLORS|FORCE_COLOR|COLORTERM|TERM|TMUX|CI$|TEAMCITY|TF_BUILD)/;

/** The environment of a shell that has nothing to do with npm, the tests, a terminal or a build machine. */
export function plainEnv(more: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const isKept = (name: string): boolean => name === 'REPRISE_MASK_KEY' || !foreign.test(name);
  const kept = Object.entries(process.env).filter(([name]) => isKept(name));
  // Every process loads the same source; without types once is enough.
  return { ...Object.fromEntries(kept), NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/cli'), ...more };
}

/** The kind of store that a place has. */
interface PlaceOptions {
  /** A file also where the stores of this run are in PostgreSQL. */
  readonly isFile?: boolean;
}

/** A folder with a store in it, in which commands run. Dispose of it when done. */
export class Place implements Disposable {
  readonly folder: string;
  readonly #url: string | undefined;

  /** In a new folder of its own, or in one that is made below another; with a file where that is asked for. */
  constructor(folder?: string, { isFile = !isOnServer }: PlaceOptions = {}) {
    if (folder !== undefined) mkdirSync(folder, { recursive: true });
    this.folder = folder ?? mkdtempSync(join(tmpdir(), 'reprise-cli-'));
    this.#url = isFile ? undefined : `${String(server)}?schema=cli_${randomBytes(8).toString('hex')}`;
  }

  /** The store that commands find by themselves: the file, or on a server a schema that is this place's alone. */
  get url(): string {
    return this.#url ?? `sqlite:${this.store}`;
  }

  /** Whether the store is a file. */
  get isFile(): boolean {
    return this.#url === undefined;
  }

  /** The environment in which commands find that store. */
  env(more: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
    return plainEnv({ ...(this.#url === undefined ? {} : { REPRISE_STORE: this.#url }), ...more });
  }

  /** The file of the store; on a server there is none. */
  get store(): string {
    return join(this.folder, '.reprise/reprise.db');
  }

  /** Opens the store. */
  open(options: { readonly durability?: 'process' } = {}): Promise<Reprise> {
    return openReprise({ store: this.url, ...options });
  }

  /** Writes a file and gives its name, as a command takes it. */
  write(name: string, value: unknown): string {
    writeFileSync(join(this.folder, name), typeof value === 'string' ? value : JSON.stringify(value));
    return name;
  }

  /** Runs `reprise` with these words, in a process that is shared with other commands unless there is input. */
  run(words: readonly string[], options: RunOptions = {}): Promise<Ran> {
    if (options.stdin !== undefined) return this.runAlone(words, options);
    return runWarm({ words, folder: this.folder, env: this.env(options.env) }, plainEnv());
  }

  /** Runs `reprise` with these words in a process of its own, where the process is what the test is about. */
  async runAlone(words: readonly string[], { stdin = '', env = {} }: RunOptions = {}): Promise<Ran> {
    const started = this.start(words, { env });
    started.child.stdin.end(stdin);
    const code = await started.ended();
    return { code, stdout: started.stdout, stderr: started.stderr };
  }

  /** Starts `reprise` with these words in a process of its own, to be watched while it runs. */
  start(words: readonly string[], { env = {}, ...more }: RunOptions & WatchOptions = {}): Started {
    return new Started({ folder: this.folder, env: this.env(env), words, ...more });
  }

  /** Runs `reprise` and gives the one JSON value it printed; throws with all it wrote if that is not what it did. */
  async json(...words: readonly string[]): Promise<Record<string, unknown>> {
    const { code, stdout, stderr } = await this.run([...words, '--json']);
    try {
      return JSON.parse(stdout) as Record<string, unknown>;
    } catch {
      throw new Error(`reprise ${words.join(' ')} exited with ${String(code)}: ${stdout}${stderr}`);
    }
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** The events of the story of `npm start`: an agent refunds what it guessed. */
export function refundEvents(): EventDraft[] {
  const question = 'Order 7 arrived broken. Please refund it.';
  const messages = [
    { role: 'system', content: 'You are a support agent. Resolve refunds quickly.' },
    { role: 'user', content: question },
  ];
  const call = { type: 'tool-call', toolCallId: 'c1', toolName: 'refund', input: { order: 7, amount: 500 } };
  const model = { call: 'm1', kind: 'model', name: 'small-1' };
  const tool = { call: 'c1', kind: 'tool', name: 'refund' };
  const spent = { usage: { inputTokens: 812, outputTokens: 33 }, cost: 0.0021 };
  const drafts: EventDraft[] = [
    {
      type: 'run.started',
      data: { title: 'Refund of order 7', git: { branch: 'main', sha: '1a2b3c4d', dirty: false } },
    },
    { type: 'message.added', turn: 1, data: { message: { role: 'user', content: question } } },
    { type: 'call.started', data: { ...model, request: { messages } } },
    {
      type: 'call.ended',
      data: { ...model, ...spent, outcome: 'ok', message: { role: 'assistant', content: [call] } },
    },
    { type: 'call.started', data: { ...tool, effect: 'irreversible', input: { order: 7, amount: 500 } } },
    { type: 'call.ended', data: { ...tool, outcome: 'ok', output: { refunded: 500, paid: 50 } } },
    { type: 'run.ended', data: { outcome: 'ok', result: 'Refunded 500.' } },
  ];
  const start = Date.parse('2026-11-15T10:00:00.000Z');
  return drafts.map((draft, index) => ({
    agent: 'support',
    run: 'run-1',
    time: new Date(start + index * 250).toISOString(),
    ...draft,
  }));
}

/** Five turns of asking a model and calling a tool: 27 events, of which 12 is a message and 16 the end of a call. */
function demoEvents(): EventDraft[] {
  const turns = [1, 2, 3, 4, 5].flatMap((turn): EventDraft[] => {
    const model = { call: `m${turn}`, kind: 'model', name: 'small-1' };
    const tool = { call: `c${turn}`, kind: 'tool', name: 'search' };
    const question = { role: 'user', content: `Question ${turn}` };
    const call = { type: 'tool-call', toolCallId: `c${turn}`, toolName: 'search', input: { q: turn } };
    return [
      { type: 'message.added', turn, data: { message: question } },
      { type: 'call.started', data: { ...model, request: { messages: [question] } } },
      { type: 'call.ended', data: { ...model, outcome: 'ok', message: { role: 'assistant', content: [call] } } },
      { type: 'call.started', data: { ...tool, input: { q: turn } } },
      { type: 'call.ended', data: { ...tool, outcome: turn === 4 ? 'error' : 'ok', output: { found: turn } } },
    ];
  });
  const drafts: EventDraft[] = [
    { type: 'run.started', data: { title: 'Five questions' } },
    ...turns,
    { type: 'run.ended', data: { outcome: 'ok' } },
  ];
  return drafts.map((draft) => ({ agent: 'support', run: 'run-1', ...draft }));
}

/** A night of an orchestrator, as `docs/coming-from/bernstein.md` has it. */
function nightEvents(): EventDraft[] {
  const start = Date.parse('2026-04-15T14:30:22.000Z');
  const at = (seconds: number): string => new Date(start + seconds * 1000).toISOString();
  const agent = 'backend-4f2a';
  const drafts: EventDraft[] = [
    {
      type: 'run.started',
      time: at(0),
      data: { title: 'Nightly', git: { branch: 'main', sha: '1a2b3c4d', dirty: false } },
    },
    { type: 'agent.spawned', time: at(2), agent, data: { role: 'backend' } },
    {
      type: 'task.started',
      time: at(2),
      data: { task: 'T-1', title: 'Add the index', prompt: 'Add an index on orders.' },
    },
    { type: 'task.claimed', time: at(3), agent, data: { task: 'T-1' } },
    { type: 'verification.failed', time: at(61), agent, data: { task: 'T-1', signals: ['tests'] } },
    { type: 'task.ended', time: at(95), agent, data: { task: 'T-1', outcome: 'ok' } },
    { type: 'run.ended', time: at(96), data: { outcome: 'ok' } },
  ];
  return drafts.map((draft) => ({ run: '20260415-143022', ...draft }));
}

/** A place for the examples of the documents: the sessions `orchestration`, `other` and `demo`, whose branch `careful` has 22 events. */
export async function demoPlace(options: PlaceOptions = {}): Promise<Place> {
  const place = await builtPlace('demo', buildDemo, options);
  place.write('event.json', { type: 'note.added', data: { text: 'instead' } });
  place.write('answer.json', { found: 50 });
  writeAgentFiles(place);
  return place;
}

async function buildDemo(reprise: Reprise): Promise<void> {
  await (await reprise.createSession('orchestration')).append(nightEvents());
  await (await reprise.createSession('other')).append(demoEvents().slice(0, 9));
  const session = await reprise.createSession('demo');
  await session.append(demoEvents());
  const careful = await session.fork('main@16', { name: 'careful', system: 'Be careful.', reason: 'it was not' });
  await careful.append(demoEvents().slice(16, 20));
}

/** Writes the files of commands that run agents and import: a configuration, variants, a saved run. */
export function writeAgentFiles(place: Place): void {
  place.write('reprise.config.mjs', agentConfig);
  place.write('variants.json', [{ name: 'as-is' }, { name: 'brief', system: 'Be brief: the pool.' }]);
  place.write('run-abc.json', {
    trace_id: 'run-abc',
    metadata: {},
    events: [{ type: 'run_started', message: '', payload: { prompt: 'Who wrote it?' } }],
  });
}

/** A configuration whose agent is a plain function: it asks a model that is not there, and searches once. */
export const agentConfig = `
const answerTo = ({ model, system, prompt }) =>
  \`\${model ?? 'small-1'}, \${system ?? 'as ever'}: \${prompt?.content ?? 'go on'}\`;

async function support(context) {
  const { recorder, prompt, model } = context;
  const name = model ?? 'small-1';
  await recorder.call({ kind: 'tool', name: 'search', input: { q: 'pool' } }, async () => ({ found: 1 }));
  return recorder.call(
    { kind: 'model', name, request: { messages: [...context.messages, ...(prompt === undefined ? [] : [prompt])] } },
    async () => answerTo(context),
    (text) => ({ message: { role: 'assistant', content: text }, usage: { inputTokens: 20, outputTokens: 5 } }),
  );
}

export default { agents: { support }, prices: { 'small-1': { input: 1, output: 4 } } };
`;

const built = new Map<string, Place>();

/** A new place whose store holds what is built: a file is built once and copied, a schema is not copied any sooner. */
async function builtPlace(
  name: string,
  build: (reprise: Reprise) => Promise<void>,
  options: PlaceOptions = {},
): Promise<Place> {
  const known = built.get(name);
  const place = new Place(undefined, options);
  if (known !== undefined) {
    cpSync(join(known.folder, '.reprise'), join(place.folder, '.reprise'), { recursive: true });
    return place;
  }
  {
    await using reprise = await place.open({ durability: 'process' });
    await build(reprise);
  }
  if (!place.isFile) return place;
  built.set(name, place);
  return await builtPlace(name, build, options);
}

/** Deletes what the places were copied from. */
export function dropFixtures(): void {
  for (const place of built.values()) place[Symbol.dispose]();
  built.clear();
}

/** A place with the session `refund`: seven events on `main`, and the branch `careful` that was forked at 2. */
export function refundPlace(): Promise<Place> {
  return builtPlace('refund', buildRefund);
}

async function buildRefund(reprise: Reprise): Promise<void> {
  const session = await reprise.createSession('refund');
  await session.append(refundEvents());
  const careful = await session.fork('main@2', {
    name: 'careful',
    system: 'Look the order up first.',
    reason: 'it guessed',
  });
  await careful.append([
    { type: 'call.started', data: { call: 'c2', kind: 'tool', name: 'lookup', input: { order: 7 } } },
    { type: 'call.ended', data: { call: 'c2', kind: 'tool', name: 'lookup', outcome: 'ok', output: { paid: 50 } } },
  ]);
}

/**
 * The shape of a JSON value: its keys and the types of what they hold, a list as its distinct kinds of items. Text for
 * people may change; this may not.
 */
export function shapeOf(value: unknown): unknown {
  if (value === null) return 'null';
  if (Array.isArray(value)) {
    const shapes = value.map(shapeOf).map((shape) => JSON.stringify(shape));
    return [...new Set(shapes)].sort().map((shape): unknown => JSON.parse(shape));
  }
  if (typeof value !== 'object') return typeof value;
  return Object.fromEntries(
    Object.entries(value).map(([key, held]) => [key.replace(/^[0-9a-f]{64}$/, 'DIGEST'), shapeOf(held)]),
  );
}
