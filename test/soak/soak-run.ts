import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openReprise } from '../../src/index.ts';
import { Random } from '../crash/random.ts';
import { readTold, type Told } from './soak-report.ts';

/** The store of a soak, how long it runs, and what goes wrong meanwhile. */
export interface SoakOptions {
  readonly url: string;
  /** The folder for the notes of the processes. */
  readonly directory: string;
  readonly seconds: number;
  readonly seed: number;
  readonly writers: number;
  readonly followers: number;
  /** Faults besides the deaths of clients, by name; each takes as long as it lasts. */
  readonly faults: Readonly<Record<string, (random: Random) => Promise<void>>>;
}

/** The figures of a soak. */
export interface SoakFigures {
  readonly events: number;
  readonly acknowledged: number;
  /** Acknowledged events that are not where they were said to be. */
  readonly lost: number;
  /** Events that are there more than once. */
  readonly doubled: number;
  /** Followers, of all branches together, that saw anything else than what is stored. */
  readonly misled: number;
  readonly unverified: number;
  readonly branches: number;
  /** How often each thing went wrong. */
  readonly faults: Readonly<Record<string, number>>;
  /** How often a process gave up waiting and tried again. */
  readonly errors: number;
  /** The longest time without any acknowledgment, and the longest that one append took. */
  readonly stallMs: number;
  readonly appendMs: number;
}

const branches = 6;
const one = 'one/main';
const many = Array.from({ length: branches }, (_, index) => `many/b${index}`);
const places = [one, ...many];

/** Writers and followers in processes of their own, which are killed again and again; then everything is compared. */
export async function soakRun(options: SoakOptions): Promise<SoakFigures> {
  await prepare(options.url);
  using crew = new Crew(options);
  await crew.atWork();
  const faults = await upset(crew, options);
  await crew.stopWriters();
  const stored = await storedIn(options.url);
  await crew.stopFollowers(Object.fromEntries([...stored.events].map(([place, events]) => [place, events.length])));
  return { ...compare(stored, crew), branches: places.length, faults };
}

async function prepare(url: string): Promise<void> {
  await using reprise = await openReprise(url);
  await reprise.createSession('one');
  const session = await reprise.createSession('many');
  for (let index = 0; index < branches; index++) await session.fork('main@0', { name: `b${index}` });
}

/** Makes things go wrong until the time is over; tells how often each did. */
async function upset(crew: Crew, { seconds, seed, faults }: SoakOptions): Promise<Record<string, number>> {
  const random = new Random(seed);
  const end = performance.now() + seconds * 1_000;
  const counts: Record<string, number> = { 'writer killed': 0, 'follower killed': 0 };
  const kinds = ['writer killed', 'follower killed', ...Object.keys(faults), ...Object.keys(faults)];
  while (performance.now() < end) {
    await sleep(Math.min(500 + random.below(2_000), Math.max(0, end - performance.now())));
    const kind = random.pick(kinds);
    const fault = faults[kind];
    if (fault !== undefined) await fault(random);
    else if (!(await crew.kill(kind === 'writer killed' ? 'writers' : 'followers', random))) continue;
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
}

/** A process of a soak: what it writes to, and how much was there when it began. */
interface Member {
  readonly child: ChildProcess;
  readonly file: string;
  readonly bytes: number;
}

/** The processes of a soak. */
class Crew implements Disposable {
  readonly #options: SoakOptions;
  readonly #writers: Member[];
  readonly #followers: Member[];
  readonly writerFiles: string[] = [];
  readonly followerFiles: readonly string[];

  constructor(options: SoakOptions) {
    this.#options = options;
    this.followerFiles = Array.from({ length: options.followers }, (_, index) =>
      join(options.directory, `follower-${index}`),
    );
    this.#followers = this.followerFiles.map((file) => this.#follower(file));
    this.#writers = Array.from({ length: options.writers }, () => this.#writer());
  }

  /** Whatever happened, no process is left behind. */
  [Symbol.dispose](): void {
    for (const { child } of [...this.#writers, ...this.#followers]) child.kill('SIGKILL');
  }

  /** Waits until the store has acknowledged something to every writer. */
  async atWork(): Promise<void> {
    for (const { file } of this.#writers) while (sizeOf(file) === 0) await sleep(100);
  }

  /** Kills one that is at work and starts another; false if all of them are still starting. */
  async kill(kind: 'writers' | 'followers', random: Random): Promise<boolean> {
    const members = kind === 'writers' ? this.#writers : this.#followers;
    const index = random.below(members.length);
    const { child, file, bytes } = members[index] as Member;
    if (sizeOf(file) === bytes) return false;
    await killed(child);
    members[index] = kind === 'writers' ? this.#writer() : this.#follower(file);
    return true;
  }

  /** Lets every writer finish what it has begun. */
  async stopWriters(): Promise<void> {
    await Promise.all(this.#writers.map(({ child }) => ended(child, 'stop')));
  }

  /** Waits until every follower has seen all there is. */
  async stopFollowers(heads: Readonly<Record<string, number>>): Promise<void> {
    await Promise.all(this.#followers.map(({ child }) => ended(child, JSON.stringify(heads))));
  }

  /** Each life of a writer has a name of its own, so that its ids are too. */
  #writer(): Member {
    const name = `w${this.writerFiles.length}`;
    const file = join(this.#options.directory, name);
    this.writerFiles.push(file);
    return { child: start('soak-writer.ts', [this.#options.url, name, file, ...places]), file, bytes: 0 };
  }

  #follower(file: string): Member {
    return { child: start('soak-follower.ts', [this.#options.url, file, ...places]), file, bytes: sizeOf(file) };
  }
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

function start(program: string, words: readonly string[]): ChildProcess {
  const path = fileURLToPath(new URL(`./${program}`, import.meta.url));
  return spawn(process.execPath, ['--disable-warning=ExperimentalWarning', path, ...words], {
    stdio: ['pipe', 'inherit', 'inherit'],
    env: { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), 'reprise-compile-cache') },
  });
}

async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) throw new Error(`A process ended by itself with ${child.exitCode}`);
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

/** Tells a process to end, in a line, and waits until it did, in good order. */
async function ended(child: ChildProcess, line: string): Promise<void> {
  if (child.exitCode !== null) throw new Error(`A process ended by itself with ${child.exitCode}`);
  const gone = once(child, 'exit') as Promise<[number | null, string | null]>;
  child.stdin?.write(`${line}\n`);
  const timer = setTimeout(() => child.kill('SIGKILL'), endMsMax);
  const [code, signal] = await gone;
  clearTimeout(timer);
  if (code !== 0) throw new Error(`A process that was to end in good order ended with ${code ?? signal}`);
}

const endMsMax = 120_000;

interface Stored {
  readonly events: ReadonlyMap<string, readonly Pick<Told, 'seq' | 'id' | 'digest'>[]>;
  readonly unverified: number;
}

async function storedIn(url: string): Promise<Stored> {
  await using reprise = await openReprise(url);
  const events = new Map<string, Pick<Told, 'seq' | 'id' | 'digest'>[]>();
  let unverified = 0;
  for (const place of places) {
    const [id = '', branch = ''] = place.split('/');
    const session = await reprise.session(id);
    const found: Pick<Told, 'seq' | 'id' | 'digest'>[] = [];
    for await (const { seq, id: event, digest } of session.branch(branch).replay({ history: 'raw' }))
      found.push({ seq, id: event, digest });
    events.set(place, found);
    if (!(await session.branch(branch).verify()).ok) unverified++;
  }
  return { events, unverified };
}

function compare({ events, unverified }: Stored, crew: Crew): Omit<SoakFigures, 'branches' | 'faults'> {
  const lines = (place: string, held: readonly Pick<Told, 'seq' | 'id' | 'digest'>[]): string[] =>
    held.map(({ seq, id, digest }) => `${place} ${seq} ${id} ${digest}`);
  const stored = [...events].flatMap(([place, held]) => lines(place, held));
  const isStored = new Set(stored);
  const writers = crew.writerFiles.map(readTold);
  const followers = crew.followerFiles.map(readTold);
  const told = writers.flatMap((writer) => writer.told);
  const misled = followers.filter(({ told: seen }) =>
    [...events].some(([place, held]) => {
      const here = lines(
        place,
        seen.filter((event) => event.place === place),
      );
      return here.join('\n') !== lines(place, held).join('\n');
    }),
  );
  const times = told.map(({ at }) => at).sort((left, right) => left - right);
  return {
    events: stored.length,
    acknowledged: told.length,
    lost: told.filter((event) => !isStored.has(lines(event.place, [event])[0] as string)).length,
    doubled: stored.length - new Set([...events.values()].flatMap((held) => held.map(({ id }) => id))).size,
    misled: misled.length,
    unverified,
    errors: [...writers, ...followers].reduce((count, { errors }) => count + errors.length, 0),
    stallMs: times.reduce((most, at, index) => Math.max(most, at - (times[index - 1] ?? at)), 0),
    appendMs: told.reduce((most, { ms }) => Math.max(most, ms), 0),
  };
}
