import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { conversation, type EventDraft, openReprise, type Reprise, type Session, summary } from '../../src/index.ts';
import { openWith } from '../../src/open-reprise.ts';
import { all } from '../verbs/verb-case.ts';

let directory = '';
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'reprise-steady-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const call = (index: number): EventDraft[] => {
  const of = { call: `c${index}`, kind: 'tool', name: 'look' };
  return [
    { type: 'call.started', run: 'r', agent: 'a', data: { ...of, input: { index } } },
    { type: 'call.ended', run: 'r', agent: 'a', data: { ...of, outcome: 'ok', output: index } },
  ];
};

/** Appends a long history in large batches. */
async function fill(session: Session, events: number): Promise<void> {
  for (let from = 0; from < events / 2; from += 1_000)
    await session.append(Array.from({ length: Math.min(1_000, events / 2 - from) }, (_, at) => call(from + at)).flat());
}

describe('the end of a run reads what the run added, however long the history is', () => {
  test.each([500, 5_000])('after %i events', async (events) => {
    let read = 0;
    const store = `sqlite:${join(directory, `run-${events}.db`)}`;
    const onRead = (count: number): void => {
      read += count;
    };
    await using reprise = await openWith({ store, durability: 'process' }, { onRead });
    const session = await reprise.createSession('demo');
    await fill(session, events);
    const reads: number[] = [];
    for (let run = 0; run < 4; run++) {
      await using recorder = await session.record({ agent: 'a' });
      await recorder.run({ title: `run ${run}` }, async () => {
        recorder.message({ role: 'user', content: `Question ${run}` });
        await recorder.flush();
        read = 0;
      });
      await recorder.flush();
      reads.push(read);
    }
    // The first run of a process has nothing to go on from.
    expect(Math.max(...reads.slice(1))).toBeLessThan(40);
    for await (const event of session.replay({ filter: { types: ['run.ended'] } })) {
      // A different process folds from the beginning, and gets the same.
      await using other = await openReprise('memory:');
      await reprise.copy(other);
      const fingerprint = await (await other.session('demo')).at(`main@${event.seq - 1}`).fingerprint();
      expect(event.data['fingerprint']).toBe(fingerprint);
    }
  });

  test('an edit, a rewind and an erasure are taken into account', async () => {
    await using reprise = await openReprise('memory:');
    const session = await reprise.createSession('demo');
    const changes: ((seq: number) => Promise<unknown>)[] = [
      async () => undefined,
      (seq) => session.rewind(seq - 2),
      (seq) => session.erase(`main@${seq - 3}`),
      (seq) => session.edit({ kind: 'drop', seq: seq - 3 }),
    ];
    for (const change of changes) {
      await session.append([...call(1), { type: 'note.added', data: { text: 'n' } }, ...call(2)]);
      await session.fingerprint();
      await change((await session.locate()).seq);
      await session.append(call(3));
      const running = await session.fingerprint();
      await using other = await openReprise('memory:');
      await reprise.copy(other);
      expect(await (await other.session('demo')).fingerprint()).toBe(running);
    }
  });
});

const events = 30_000;
/** How many events may be read between two turns of the event loop. */
const betweenMax = 10_000;

describe.each(['memory', 'sqlite'] as const)('on %s, no verb keeps timers and signals waiting', (kind) => {
  let reprise: Reprise;
  let session: Session;
  let read = 0;
  beforeAll(async () => {
    const path = `sqlite:${join(directory, 'long.db')}`;
    const onRead = (count: number): void => {
      read += count;
    };
    reprise = await openWith(kind === 'memory' ? 'memory:' : { store: path, durability: 'process' }, { onRead });
    session = await reprise.createSession('demo');
    await fill(session, events);
  });
  afterAll(() => reprise.close());

  /** Counts the events that are read at most between two turns of the event loop. */
  async function between(work: () => Promise<unknown>): Promise<{ readonly most: number; readonly total: number }> {
    let [most, total] = [0, 0];
    const note = (): void => {
      [most, total, read] = [Math.max(most, read), total + read, 0];
    };
    const turn = (): void => {
      note();
      next = setImmediate(turn);
    };
    read = 0;
    let next = setImmediate(turn);
    await work();
    clearImmediate(next);
    note();
    return { most, total };
  }

  test.each<[name: string, work: () => Promise<unknown>]>([
    ['replay', () => all(session.replay())],
    ['fold', () => session.fold(summary, { snapshots: false })],
    ['stateAt of a conversation', () => session.fold(conversation, { snapshots: false })],
    ['fingerprint', () => session.fingerprint()],
    ['verify', () => session.verify()],
    ['verify --deep', () => session.verify({ deep: true })],
    ['find', () => session.find({ text: 'nowhere' })],
  ])('%s', async (_, work) => {
    const { most, total } = await between(work);
    expect(total).toBeGreaterThan(events * 0.9);
    expect(most).toBeLessThanOrEqual(betweenMax);
  });
});
