/** Rows that no program of ours wrote: a command shows them safely, or refuses them with a clear error. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { withoutPassword } from '../../src/core/store/store-url.ts';
import { type EventDraft, eventTypes } from '../../src/index.ts';
import { isOnServer, Place, refundEvents } from '../e2e/cli/run.ts';
import { program } from '../e2e/cli/started.ts';
import { tamper } from '../e2e/cli/tamper.ts';

/** Clears the screen, in both forms, sets a title, and turns the text around. */
const evil = '\u001b[2J\u009b2J\u001b]0;owned\u0007\u202e\r\u0008';

/** The control characters that a terminal would obey; a line break is ours. */
const obeyed = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;

let place: Place;
beforeEach(() => {
  place = new Place();
});
afterEach(() => place[Symbol.dispose]());

/** Returns a value with the evil text in every text and every name. */
function poisoned(value: unknown): unknown {
  if (typeof value === 'string') return `${value}${evil}`;
  if (Array.isArray(value)) return value.map(poisoned);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, held]) => [key, poisoned(held)]));
}

/** One event of every type that can be appended: its example and all its texts poisoned; unknown types too. */
function poisonedEvents(): EventDraft[] {
  const known = Object.entries(eventTypes).filter(([, { structural }]) => !structural);
  const drafts = known.map(([type, { fields, example }]) => {
    const texts = Object.entries(fields).filter(([name, held]) => held.type === 'string' && !name.includes('.'));
    const data = { ...Object.fromEntries(texts.map(([name]) => [name, name])), ...example };
    return { type, run: 'run-1', agent: 'support', data: poisoned(data) as EventDraft['data'] } as EventDraft;
  });
  return [...drafts, { type: 'house.burned', data: { [`why${evil}`]: evil, nested: [{ [evil]: evil }] } }];
}

/** Appends what the store takes: what it refuses cannot be in a history. */
async function makePoisoned(): Promise<number> {
  await using reprise = await place.open();
  const session = await reprise.createSession('refund');
  await session.append(refundEvents());
  let taken = 0;
  for (const draft of poisonedEvents())
    await session.append(draft).then(
      () => taken++,
      () => undefined,
    );
  const reason = `because${evil}`;
  await session.append({ type: 'run.ended', run: 'run-1', agent: 'support', data: { outcome: evil, result: evil } });
  await session.fork('main@4', { name: 'careful', reason, prompt: evil, metadata: { [`key${evil}`]: evil } });
  await session.revert(3, { reason });
  return taken;
}

describe('control characters in what was recorded', () => {
  const looks: readonly (readonly string[])[] = [
    ['list'],
    ['tree', 'refund'],
    ['replay', 'refund'],
    ['replay', 'refund', '--raw'],
    ['replay', 'refund/careful', '--full'],
    ['show', 'refund'],
    ['show', 'refund/careful', '--resume'],
    ['fold', 'refund'],
    ['fold', 'refund', 'runs'],
    ['diff', 'refund', 'refund/careful'],
    ['diff', 'refund', 'refund/careful', '--strict'],
    ['counterfactual', 'refund', '--exclude', '5'],
    ['verify', 'refund'],
    ['fingerprint', 'refund'],
    ['doctor', '--verify'],
    ['keys', 'refund'],
    ['scan', 'refund'],
    ['erase', 'refund@2', '--dry-run'],
    ['retry', 'refund', '--with', 'demo'],
    ['coding', 'status', 'refund'],
    ['coding', 'context', 'refund'],
    ['coding', 'receipt', 'refund'],
    ['coding', 'files', 'refund'],
    ['coding', 'diff', 'refund@2', 'refund'],
  ];

  test('none reaches the output of a command, as text or in its messages', async () => {
    expect(await makePoisoned()).toBeGreaterThan(20);
    const shown: string[] = [];
    for (const words of looks) {
      const { stdout, stderr } = await place.run(words);
      expect(stdout + stderr).not.toBe('');
      const bad = (stdout + stderr).split('\n').filter((line) => obeyed.test(line));
      shown.push(...bad.map((line) => `${words.join(' ')}: ${JSON.stringify(line).slice(0, 200)}`));
    }
    expect(shown).toEqual([]);
  });

  test('on a terminal none reaches it in JSON, by export, or in the JSON of an error; elsewhere text is exact', async () => {
    await makePoisoned();
    for (const words of [
      ['list', '--json'],
      ['replay', 'refund', '--json'],
      ['replay', 'refund', '--json=object'],
      ['export', 'refund', '--format', 'shipit'],
      ['show', 'refund', '--json'],
      ['coding', 'request', 'refund', '--model', 'm', '--input', 'x'],
      ['show', `refund/${evil}`, '--json'],
    ])
      expect([
        words,
        onTerminal(words)
          .split('\n')
          .filter((line) => obeyed.test(line)),
      ]).toEqual([words, []]);
    const { stdout } = await place.run(['export', 'refund', '--format', 'shipit']);
    const shown = onTerminal(['export', 'refund', '--format', 'shipit']);
    expect(JSON.parse(shown)).toEqual(JSON.parse(stdout));
    expect(stdout).toContain('\u009b');
  });
});

/**
 * Runs a command on a terminal of its own, and returns what reaches it. Its messages go to a file: a slow command draws
 * its progress there, with control characters of our own.
 */
function onTerminal(words: readonly string[]): string {
  const [file, messages] = ['typescript', 'messages'].map((name) => join(place.folder, name)) as [string, string];
  const quoted = [process.execPath, program, ...words].map((word) => `'${word}'`).join(' ');
  spawnSync('script', ['--quiet', '--command', `${quoted} 2> '${messages}'`, file], {
    cwd: place.folder,
    env: place.env({ TERM: 'dumb', NO_COLOR: '1' }),
  });
  const lines = readFileSync(file, 'utf8').replaceAll('\r\n', '\n').split('\n');
  const shown = lines.filter((line) => !/^Script (?:started|done)/.test(line)).join('\n');
  return shown + readFileSync(messages, 'utf8');
}

describe('rows that cannot be', () => {
  test('an event at the last seq that a number can hold: every command answers, and verify names it', async () => {
    {
      await using reprise = await place.open();
      await (await reprise.createSession('refund')).append(refundEvents());
    }
    await tamper(place, `UPDATE events SET seq = 9007199254740991 WHERE seq = 7`);
    if (isOnServer) await tamper(place, `UPDATE branches SET head = 9007199254740991`);
    const { stdout } = await place.run(['verify', 'refund', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ ok: false, firstBad: 7 });
    for (const words of [
      ['list'],
      ['tree', 'refund'],
      ['doctor', '--verify'],
      ['replay', 'refund'],
      ['show', 'refund'],
    ])
      expect([words, (await place.run(words)).code]).toEqual([words, expect.toBeOneOf([0, 1, 3])]);
    const { stderr } = await place.run(['set', 'refund', 'plan', '1', '--json']);
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'store.damaged' } });
  });

  const circles: readonly [string, string][] = [
    ['in its previous node', `'{"items":[],"previous":"' || lower(hex(digest)) || '"}'`],
    ['in an item', `'{"items":[{"$list":"' || lower(hex(digest)) || '"}],"previous":null}'`],
    ['in a sealed item', `'{"items":[{"$sealed":"' || lower(hex(digest)) || '"}],"previous":null}'`],
  ];

  test.each(circles)('a list that leads back to itself %s is damage, and no command follows it', async (_, text) => {
    {
      await using reprise = await place.open();
      const session = await reprise.createSession('refund');
      const messages = [1, 2, 3].map((n) => ({ role: 'user', content: `Question ${n} ${'long '.repeat(200)}` }));
      const data = (count: number) => ({
        call: `m${count}`,
        kind: 'model',
        name: 'small',
        request: { messages: messages.slice(0, count) },
      });
      for (const count of [1, 2, 3])
        await session.append({ type: 'call.started', run: 'r', agent: 'a', data: data(count) });
    }
    const asText = isOnServer ? text.replaceAll('lower(hex(digest))', `encode(digest, 'hex')`) : text;
    await tamper(place, `UPDATE parts SET text = ${asText} WHERE kind = 'list'`);
    for (const words of [
      ['show', 'refund'],
      ['replay', 'refund', '--json'],
      ['verify', 'refund', '--json'],
      ['list', '--json'],
    ]) {
      const { code, stderr } = await place.run(words);
      expect([words, code, stderr]).toEqual([words, expect.toBeOneOf([0, 1, 3]), expect.not.stringContaining('bug')]);
    }
    expect(JSON.parse((await place.run(['show', 'refund', '--json'])).stderr)).toMatchObject({
      error: { code: 'part.damaged' },
    });
    expect(JSON.parse((await place.run(['verify', 'refund', '--json'])).stdout)).toMatchObject({ ok: false });
  });
});

test.each([
  ' postgres://ada:hunter2@db/runs',
  '\tpostgres://ada:hunter2@db/runs',
  'postgres ://ada:hunter2@db/runs',
  'postgres+ssl://ada:hunter2@db/runs',
  'postgres:ada:hunter2@db/runs',
  'postgres:/ada:hunter2@db/runs',
  '//ada:hunter2@db/runs',
  'ada:hunter2@db/runs',
  'postgres://ada:hunter2@db/runs ',
  '"postgres://ada:hunter2@db/runs"',
  'url=postgres://ada:hunter2@db/runs',
  'postgres://db/runs?user=ada&password=hunter2',
  ' postgres://db/runs?user=ada&PASSWORD=hunter2',
  'postgres://db/runs?user=ada;password=hunter2',
])('the password in the store URL %j is not printed', async (url) => {
  expect(withoutPassword(url)).not.toContain('hunter2');
  for (const words of [
    ['list', '--store', url],
    ['list', `--store=${url}`, '--json'],
    ['copy', url, 'sqlite:copy.db'],
    ['doctor', '--store', url],
  ]) {
    const { stdout, stderr } = await place.run(words);
    expect(stdout + stderr).not.toContain('hunter2');
  }
  const { stdout, stderr } = await place.run(['list'], { env: { REPRISE_STORE: url } });
  expect(stdout + stderr).not.toContain('hunter2');
});
