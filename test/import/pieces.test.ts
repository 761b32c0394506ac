/** An export is written piece by piece: it never holds a history. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openReprise, type Reprise } from '../../src/index.ts';
import { claudeFork } from './sources.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

let directory = '';
let reprise: Reprise;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'reprise-pieces-'));
  reprise = await openReprise({ store: `sqlite:${join(directory, 'pieces.db')}`, config: false });
});
afterAll(async () => {
  await reprise.close();
  await rm(directory, { recursive: true, force: true });
});

const megabyte = 1_048_576;
const units = 10_500;

async function* rollout(): AsyncGenerator<string> {
  const time = '2026-09-14T01:05:00.000Z';
  yield `${JSON.stringify({ timestamp: time, type: 'session_meta', payload: { id: 'large' } })}\n`;
  for (let at = 1; at < units; at++) {
    const role = at % 2 === 1 ? 'user' : 'assistant';
    const content = [{ type: 'input_text', text: `${at} ${'long '.repeat(380)}` }];
    yield `${JSON.stringify({ timestamp: time, type: 'response_item', payload: { type: 'message', role, content } })}\n`;
  }
}

const held = (): number => {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};

test('an export of a large session holds a few pages of it, whatever its length', async () => {
  await reprise.import(rollout());
  for (const format of ['codex', 'jsonl', 'markdown', 'atif']) {
    const before = held();
    const seen = { pieces: 0, bytes: 0, largest: 0, most: 0 };
    for await (const { file, bytes } of reprise.at('large').export({ format })) {
      expect(file).toBe('');
      seen.bytes += bytes.length;
      seen.largest = Math.max(seen.largest, bytes.length);
      if (seen.pieces++ % 20 === 10) seen.most = Math.max(seen.most, held() - before);
    }
    expect(seen.bytes, format).toBeGreaterThan(19 * megabyte);
    expect(seen.pieces, format).toBeGreaterThan(50);
    expect(seen.largest, format).toBeLessThan(megabyte / 2);
    // An export that held the history would hold all of its bytes, several times over.
    expect(seen.most, format).toBeLessThan(18 * megabyte);
  }
});

test('the pieces are the bytes of the files, with the units of all branches in source order', async () => {
  const session = await reprise.import(
    (async function* () {
      yield claudeFork;
    })(),
    { session: 'forked' },
  );
  const text: string[] = [];
  for await (const { bytes } of reprise.at('forked').export({ format: 'claude-code' }))
    text.push(new TextDecoder().decode(bytes));
  expect(text.join('')).toBe(claudeFork);
  const event = await session.find({ fields: [{ key: 'foreign.at', pattern: '^4$' }] });
  await session.erase(`main@${(await event?.locate())?.seq ?? 0}`, { reason: 'asked for' });
  const differing: unknown[] = [];
  for await (const { differs } of reprise.at('forked').export({ format: 'claude-code' })) differing.push(...differs);
  expect(differing).toContainEqual({ file: '', at: 4, why: 'erased' });
  expect(differing).toEqual((await reprise.at('forked').export({ format: 'claude-code' }).files()).differs);
});
