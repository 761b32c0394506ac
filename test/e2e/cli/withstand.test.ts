/** Commands that look withstand no store, a newer one, a locked one, and long and hostile histories. */
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { EventDraft } from '../../../src/index.ts';
import { widthOf } from '../../../src/wording/text.ts';
import { isOnServer, Place, refundEvents, refundPlace, skipOnServer } from './run.ts';
import type { Started, WatchOptions } from './started.ts';
import { holdWriters, markNewer } from './tamper.ts';

const looking: readonly [string, readonly string[]][] = [
  ['list', []],
  ['replay', ['latest']],
  ['show', ['latest']],
  ['fold', ['latest']],
  ['diff', ['latest', 'latest@1']],
];

// Fifty thousand events that are all held at once take more than this.
const smallHeapMb = 32;

/** How a command ended that had a small heap, and how much it wrote. */
interface Watched {
  readonly code: number | null;
  readonly lines: number;
  /** How much of a store in a file it has read. */
  readonly started: Started;
}

let watched = 0;

function watching(place: Place, words: readonly string[], more: WatchOptions = {}): Started {
  return place.start(words, { heapMb: smallHeapMb, readsFile: join(place.folder, `reads-${watched++}`), ...more });
}

/** Runs a command in a small heap. */
async function watch(place: Place, words: readonly string[], more: WatchOptions = {}): Promise<Watched> {
  const started = watching(place, words, more);
  let lines = 0;
  started.child.stdout.removeAllListeners('data').on('data', (text: string) => {
    lines += text.split('\n').length - 1;
  });
  return { code: await started.ended(), lines, started };
}

describe('stores that are not as they should be', () => {
  test.each(looking)('no store yet: %s', async (name, words) => {
    using place = new Place();
    const { code, stdout, stderr } = await place.run([name, ...words]);
    expect([code, stdout]).toEqual([3, '']);
    expect(stderr).toMatch(/^Cannot .*\n.*--store/);
  });

  test.each(looking.slice(1))('an empty store: %s', async (name, words) => {
    using place = new Place();
    await (await place.open()).close();
    const { code, stdout, stderr } = await place.run([name, ...words]);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain('Cannot find the latest session');
  });

  test.each(looking)('a store that a newer release wrote: %s', async (name, words) => {
    using place = await refundPlace();
    await markNewer(place);
    const { code, stdout, stderr } = await place.run([name, ...words]);
    expect([code, stdout]).toEqual([3, '']);
    expect(stderr).toMatch(/newer/);
  });

  test('a file that is no store', async (context) => {
    skipOnServer('the store is no file', context);
    using place = new Place();
    mkdirSync(dirname(place.store), { recursive: true });
    place.write('.reprise/reprise.db', 'noise '.repeat(2_000));
    const { code, stderr } = await place.run(['list']);
    expect(code).toBe(3);
    expect(stderr).toMatch(/^Cannot /);
  });

  test('a change that has to wait for another process says so, and is made when it may', async () => {
    using place = await refundPlace();
    const letGo = await holdWriters(place);
    const forking = place.start(['fork', 'refund@3', '--name', 'late']);
    await forking.until(({ stderr }) => stderr.includes('Waiting for the store. Another process may be using it …\n'));
    await letGo();
    expect(await forking.ended()).toBe(0);
  });

  test('a store that another process writes to is read all the same', async () => {
    using place = await refundPlace();
    {
      await using reprise = await place.open();
      const notes = Array.from({ length: 600 }, (_, index) => ({
        type: 'note.added',
        data: { text: `note ${index}` },
      }));
      await (await reprise.session('refund')).append(notes);
    }
    const letGo = await holdWriters(place);
    const listed = await place.run(['list']);
    const shown = await place.run(['show', 'refund@500']);
    await letGo();
    expect([listed.code, shown.code]).toEqual([0, 0]);
  });
});

describe('payloads that are not kind', () => {
  skipOnServer('it is about what is printed');

  const hostile = 'a\u001b[31mred\u001b]0;title\u0007\u009b2J\u202e evil\r\nline\u0000';
  let place: Place;

  beforeAll(async () => {
    place = new Place();
    await using reprise = await place.open();
    const session = await reprise.createSession('hostile');
    const messages = [{ role: 'user', content: hostile }];
    await session.append([
      { type: 'run.started', agent: 'a\u2066b', data: { title: hostile, git: { branch: hostile, sha: hostile } } },
      { type: 'message.added', agent: 'b\u202e', data: { message: { role: 'user', content: hostile } } },
      { type: 'call.started', data: { call: 'c', kind: 'model', name: hostile, request: { messages } } },
      {
        type: 'state.committed',
        data: { operations: [{ agent: 'a', key: hostile, op: 'write', value: hostile, version: 1 }] },
      },
      { type: 'unknown.happened', data: { [hostile]: hostile } },
    ]);
    await session.fork('main@2', { name: 'b\u202eanch', reason: hostile, prompt: `${hostile} and more` });
    const other = await reprise.createSession('scripts');
    await other.append(
      ['שלום עולם', '日本語のテキスト', 'مرحبا بالعالم', 'e\u0301\u0301 combined', '👩‍👩‍👧‍👦 family', '한국어'].map(
        (text): EventDraft => ({ type: 'note.added', agent: text.slice(0, 12), data: { text: `${text} `.repeat(20) } }),
      ),
    );
  });
  afterAll(() => place[Symbol.dispose]());

  test.each([
    [['list']],
    [['replay', 'hostile']],
    [['replay', 'hostile/b%E2%80%AEanch', '--raw']],
    [['show', 'hostile@5']],
    [['show', 'hostile@5', '--full']],
    [['fold', 'hostile', 'conversation']],
    [['diff', 'hostile', 'hostile/b%E2%80%AEanch', '--state', 'state']],
    [['diff', 'hostile', 'hostile/b%E2%80%AEanch', '--strict']],
  ])('%j sends nothing that a terminal would obey', async (words) => {
    for (const columns of ['60', '160']) {
      const { code, stdout, stderr } = await place.run(words, { env: { COLUMNS: columns } });
      expect([0, 1]).toContain(code);
      expect(stdout.length).toBeGreaterThan(20);
      expect((stdout + stderr).replaceAll('\n', '')).not.toMatch(
        /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/,
      );
    }
  });

  test.each([60, 80, 200])('scripts of all kinds stay aligned in %i columns', async (columns) => {
    const { stdout } = await place.run(['replay', 'scripts'], { env: { COLUMNS: String(columns) } });
    const table = stdout.slice(stdout.indexOf('SEQ')).trimEnd().split('\n');
    const title = table[0]?.indexOf('DETAIL') ?? 0;
    for (const row of table.slice(1)) {
      expect(widthOf(row)).toBeLessThanOrEqual(columns);
      const detail = [...row].findIndex((_, index) => widthOf([...row].slice(0, index).join('')) >= title);
      expect([...row].slice(detail - 2, detail).join('')).toBe('  ');
    }
  });

  test('a message of 12 MB is folded', async () => {
    using own = new Place();
    {
      await using reprise = await own.open();
      const message = { role: 'user', content: `${'A very long letter. '.repeat(5)}\n`.repeat(120_000) };
      await (await reprise.createSession('long')).append([
        { type: 'message.added', data: { message } },
        { type: 'call.started', data: { call: 'c', kind: 'model', name: 'm', request: { messages: [message] } } },
      ]);
    }
    const shown = await own.run(['show', 'long@2']);
    expect(shown.stdout.length).toBeLessThan(4_000);
    expect(shown.stdout).toContain('… 12.1 MB more (--full shows all)');
    expect((await own.run(['show', 'long@1'])).stdout).toContain('… 12.2 MB in total (--full shows all)');
    expect((await own.run(['replay', 'long'])).stdout.length).toBeLessThan(10_000);
    const full = await own.run(['show', 'long@1', '--full']);
    expect(full.stdout.length).toBeGreaterThan(12_000_000);
  });
});

/** On a server a part of it is enough to see that it is read in pages. */
const count = isOnServer ? 10_000 : 50_000;

describe(`a session of ${count} events`, () => {
  let place: Place;

  beforeAll(async () => {
    place = new Place();
    await using reprise = await place.open({ durability: 'process' });
    const session = await reprise.createSession('long');
    for (let from = 0; from < count; from += 5_000) {
      await session.append(
        Array.from({ length: Math.min(5_000, count - from) }, (_, index): EventDraft => {
          const number = from + index;
          return {
            type: 'note.added',
            agent: 'a',
            turn: Math.floor(number / 100),
            data: { text: `Note ${number}. `.repeat(4) },
          };
        }),
      );
    }
    await (await reprise.createSession('short')).append(refundEvents());
  });
  afterAll(() => place[Symbol.dispose]());

  test('shows its first rows before it has read the rest, all of them in order, and stays small', async () => {
    const long = await watch(place, ['replay', 'long']);
    expect([long.code, long.lines]).toEqual([0, count + 6]);
    if (!isOnServer) expect(long.started.reads.rowsAtFirst).toBeLessThan(count / 20);
  });

  test.each([
    ['as JSON', ['--json'], count],
    ['a long tail', ['--tail', String(count / 2), '--json'], count / 2],
    ['from the end', ['--reverse', '--json'], count],
    ['a filter that holds for few', ['--filter', `text=${count - 1}`, '--json'], 1],
  ])('%s stays small too', async (_, words, lines) => {
    const long = await watch(place, ['replay', 'long', ...words]);
    expect([long.code, long.lines]).toEqual([0, lines]);
  });

  test('as one object it takes no more than its fingerprint does', async () => {
    const long = await watch(place, ['replay', 'long', '--json=object'], { heapMb: 3 * smallHeapMb });
    expect([long.code, long.lines]).toEqual([0, 1]);
    if (!isOnServer) expect(long.started.reads.rowsAtFirst).toBeLessThan(count / 20);
  });

  test('list and show read what was kept, not the whole history', async (context) => {
    skipOnServer('the rows of a file are counted', context);
    for (const words of [['list'], ['show', `long@${count - 10}`]]) {
      // How much the writer kept beside its appends depends on the machine. The first look keeps the rest.
      await watch(place, words, { heapMb: 8 * smallHeapMb });
      const { code, started } = await watch(place, words, { heapMb: 8 * smallHeapMb });
      expect(code).toBe(0);
      expect(started.reads.rows).toBeLessThan(count / 5);
    }
  });

  test('a reader that has seen enough ends it quietly, with the rest unread', async (context) => {
    skipOnServer('the rows of a file are counted', context);
    for (const words of [
      ['replay', 'long', '--json'],
      ['replay', 'long'],
      ['replay', 'long', '--json=object'],
    ]) {
      const started = watching(place, words);
      await started.until(({ stdout }) => stdout.length >= 100);
      started.child.stdout.destroy();
      expect([await started.ended(), started.stderr]).toEqual([0, '']);
      expect(started.reads.rows).toBeLessThan(count / 2);
    }
  });

  test('Ctrl-C ends it quietly, also while it folds, with the rest unread', async (context) => {
    skipOnServer('the rows of a file are counted', context);
    for (const words of [
      ['replay', 'long', '--filter', 'text=nothing at all'],
      ['replay', 'long', '--json'],
      ['diff', 'long', 'short'],
    ]) {
      const { code, started } = await watch(place, words, { heapMb: 8 * smallHeapMb, signalAtRow: count / 10 });
      expect([code, started.stderr]).toEqual([130, '']);
      expect(started.reads.rows).toBeLessThan(count / 5);
    }
  });
});
