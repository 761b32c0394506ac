import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { EventDraft, Reprise, Session } from '../../src/index.ts';
import { growthOf, startCounting } from './work.ts';

// Loaded after the counting has started.
await startCounting();
const { openReprise } = await import('../../src/index.ts');
const { all, notes } = await import('../verbs/verb-case.ts');

// Twice the size may take a little more than twice the work, since sorting does; a square takes four times.
const growthMax = 2.6;

let directory = '';
let count = 0;
const opened: Reprise[] = [];
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'reprise-squares-'));
});
afterAll(async () => {
  for (const reprise of opened) await reprise.close();
  rmSync(directory, { recursive: true, force: true });
});

const stores = { memory: () => 'memory:', sqlite: () => `sqlite:${join(directory, `${count++}.db`)}` } as const;

async function onStore(kind: keyof typeof stores): Promise<{ readonly session: Session; readonly reprise: Reprise }> {
  const reprise = await openReprise({ store: stores[kind](), ...(kind === 'sqlite' ? { durability: 'process' } : {}) });
  opened.push(reprise);
  return { reprise, session: await reprise.createSession('demo') };
}

describe.each(['memory', 'sqlite'] as const)('on %s, twice as many take about twice the work:', (kind) => {
  test('keys that one transaction wrote, scanned', async () => {
    const growth = await growthOf(1_000, async (size) => {
      const { session } = await onStore(kind);
      await session.state.transaction(async (tx) => {
        for (let key = 0; key < size; key++) tx.write(`key ${key}`, { value: key, text: 'x'.repeat(100) });
      });
      return () => all(session.state.scan(''));
    });
    expect(growth.times, growth.where).toBeLessThan(growthMax);
  });

  /** A session whose branches all have an event and a snapshot of their own. */
  async function forked(size: number): Promise<{ readonly session: Session; readonly reprise: Reprise }> {
    const { session, reprise } = await onStore(kind);
    await session.append(notes('a'.repeat(20)));
    for (let branch = 0; branch < size; branch++) {
      const child = await session.fork('main@20', { name: `b${branch}`, reason: 'to see' });
      await child.append({ type: 'run.ended', run: 'r', data: { outcome: 'ok' } });
    }
    return { session, reprise };
  }

  test.each<[what: string, ask: (session: Session) => Promise<unknown>]>([
    ['branches, drawn as a tree', (session) => session.tree()],
    ['branches, of which one is verified', (session) => session.at('b7').verify()],
    ['branches, verified deeply', (session) => session.verify({ deep: true })],
    ['branches, repaired', (session) => session.repair()],
  ])('%s', async (_, ask) => {
    const growth = await growthOf(120, async (size) => {
      const { session } = await forked(size);
      return () => ask(session);
    });
    expect(growth.times, growth.where).toBeLessThan(growthMax);
  });

  test('branches, copied', async () => {
    const growth = await growthOf(120, async (size) => {
      const { reprise } = await forked(size);
      return async () => {
        await using to = await openReprise('memory:');
        await reprise.copy(to);
      };
    });
    expect(growth.times, growth.where).toBeLessThan(growthMax);
  });
});

describe('the work of one more edit grows at most as the number of edits does:', () => {
  const replacement = (text: string): EventDraft => ({ type: 'note.added', data: { text } });

  test.each([
    ['replacements of one event', (text: string) => ({ kind: 'replace', seq: 3, event: replacement(text) }) as const],
    ['insertions at one place', (text: string) => ({ kind: 'insert', after: 3, event: replacement(text) }) as const],
  ])('%s', async (_, edit) => {
    const growth = await growthOf(200, async (size) => {
      const { session } = await onStore('memory');
      await session.append(notes('abcde'));
      for (let index = 0; index < size; index++) await session.edit(edit(`${index}`));
      return () => session.edit(edit('last'));
    });
    expect(growth.times, growth.where).toBeLessThan(growthMax);
  });
});

describe('a saved run of a different program, imported, twice as long takes about twice the work:', () => {
  const called = (tool: number) => ({ type: 'tool_called', message: '', payload: { tool: 't', arguments: { tool } } });
  const completed = (tool: number) => ({ type: 'tool_completed', message: '', payload: { tool: 't', output: tool } });
  const one = (size: number): number[] => Array.from({ length: size }, (_, index) => index);

  test.each([
    [
      'tools called one after the other',
      (size: number) => one(size).flatMap((tool) => [called(tool), completed(tool)]),
    ],
    ['tools called together', (size: number) => [...one(size).map(called), ...one(size).map(completed)]],
  ])('%s', async (_, eventsOf) => {
    const growth = await growthOf(200, async (size) => {
      const { reprise } = await onStore('memory');
      const started = { type: 'run_started', message: '', payload: { prompt: 'Go.' } };
      const run = { trace_id: 't', metadata: {}, events: [started, ...eventsOf(size)] };
      let copies = 0;
      return () => reprise.import(run, { session: `imported ${size} ${copies++}` });
    });
    expect(growth.times, growth.where).toBeLessThan(growthMax);
  });
});
