/** `fork`, `edit`, `rewind`, `revert`, `redo`: every edit, and what is said about it. */
import { existsSync, readFileSync } from 'node:fs';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { dropFixtures, Place, refundPlace } from './run.ts';

let place: Place;

beforeEach(async () => {
  place = await refundPlace();
  return () => place[Symbol.dispose]();
});
afterAll(dropFixtures);

interface Lineage {
  readonly parent: unknown;
  readonly reason: unknown;
  readonly agent: unknown;
  readonly edits: readonly Record<string, unknown>[];
  readonly dropped: readonly number[];
}

const lineageOf = (made: Record<string, unknown>): Lineage => made['lineage'] as Lineage;

/** The messages that the model would see on a branch. */
async function conversation(ref: string): Promise<Record<string, unknown>> {
  return (await place.json('fold', ref, 'conversation'))['value'] as Record<string, unknown>;
}

describe('fork', () => {
  test('without edits it begins at the point with its lineage, and says what is not on it', async () => {
    const made = await place.run(['fork', 'refund@4', '--name', 'same', '--reason', 'to see', '--by', 'ada']);
    expect(made.code).toBe(0);
    expect(made.stdout).toBe('refund/same forked from main@4: to see\n');
    expect(made.stderr).toContain('Not on this branch: later events of main, @5…@7 (3 events).');
    expect(made.stderr).toContain('next: reprise show refund/same');
    expect(made.stderr).toContain('reprise diff refund refund/same');
    const again = await place.json('fork', 'refund@4', '--reason', 'to see', '--by', 'ada');
    expect(again).toMatchObject({ session: 'refund', branch: 'main-4', ref: 'refund/main-4', head: 5 });
    expect(lineageOf(again)).toMatchObject({ parent: { branch: 'main', seq: 4 }, reason: 'to see', agent: 'ada' });
  });

  test('--prompt says which message it replaces, and what still answers the old one', async () => {
    const { stdout, stderr } = await place.run([
      'fork',
      'refund@4',
      '--name',
      'p',
      '--prompt',
      'Refund what was paid.',
    ]);
    expect(stdout).toContain('replaces @2 message.added\n    - user: Order 7 arrived broken.');
    expect(stdout).toContain('    + user: Refund what was paid.');
    expect(stderr).toContain('Still on this branch: @3…@4 (2 events), recorded after the original @2.');
    expect(JSON.stringify(await conversation('refund/p'))).toContain('Refund what was paid.');
  });

  test('--system, --model and --tools change the settings', async () => {
    const tools = place.write('tools.json', [{ name: 'lookup' }]);
    await place.json(
      'fork',
      'refund@4',
      '--name',
      's',
      '--system',
      'Be careful.',
      '--model',
      'large-1',
      '--tools',
      tools,
    );
    expect(await conversation('refund/s')).toMatchObject({
      system: 'Be careful.',
      model: 'large-1',
      tools: [{ name: 'lookup' }],
    });
  });

  test('--replace takes a whole event or only its data, from a file or from stdin', async () => {
    const whole = place.write('event.json', { type: 'note.added', data: { text: 'instead' } });
    const made = await place.json('fork', 'refund', '--replace', `7=${whole}`);
    expect(lineageOf(made).edits).toEqual([{ kind: 'replaced', target: 7, type: 'note.added' }]);
    expect(lineageOf(made).dropped).toEqual([7]);
    const stdin = '{"outcome":"error","result":"No."}';
    const data = await place.run(['fork', 'refund', '--replace', '7=-'], { stdin });
    expect(data.stdout).toContain('- ok  Refunded 500.');
    expect(data.stdout).toContain('+ error  No.');
  });

  test('--drop takes the other half of a call with it, and says so', async () => {
    const { stdout } = await place.run(['fork', 'refund', '--drop', '5']);
    expect(stdout).toContain('drops @5, @6');
    const made = await place.json('fork', 'refund', '--drop', '5', '--cascade');
    expect(lineageOf(made).dropped).toEqual([5, 6]);
  });

  test('--insert puts an event behind another, --append at the end', async () => {
    const note = place.write('note.json', { type: 'note.added', data: { text: 'in between' } });
    const made = await place.json('fork', 'refund', '--name', 'i', '--insert', `2=${note}`, '--append', note);
    expect(lineageOf(made).edits).toEqual([
      { kind: 'inserted', after: 2, type: 'note.added' },
      { kind: 'appended', type: 'note.added' },
    ]);
    const { stdout } = await place.run(['replay', 'refund/i', '--json']);
    const types = stdout
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { type: string }).type);
    expect([types[2], types.at(-1)]).toEqual(['note.added', 'note.added']);
  });

  test('--tool-result and --tool-input change a call, which is named by either half', async () => {
    const answer = place.write('answer.json', { refunded: 50 });
    const input = place.write('input.json', { order: 7, amount: 50 });
    await place.json('fork', 'refund', '--name', 't', '--tool-result', `5=${answer}`, '--tool-input', `6=${input}`);
    const { stdout } = await place.run([
      'replay',
      'refund/t',
      '--json',
      '--event-type',
      'call.started',
      '--tool',
      'refund',
    ]);
    expect(JSON.parse(stdout)).toMatchObject({ data: { call: 'c1', input: { order: 7, amount: 50 } } });
    expect(JSON.stringify(await conversation('refund/t'))).toContain('"refunded":50');
  });

  test('a call that is still open gets its answer', async () => {
    const { stdout } = await place.run(['fork', 'refund@5', '--tool-result', '5=-'], { stdin: '{"refunded":50}' });
    expect(stdout).toContain('adds call.ended  refund  ok  {"refunded":50}');
  });

  test('--message puts another message in its place', async () => {
    const message = place.write('m.json', { role: 'user', content: 'Never mind.' });
    await place.json('fork', 'refund@2', '--name', 'm', '--message', `2=${message}`);
    expect(JSON.stringify(await conversation('refund/m'))).toContain('Never mind.');
  });

  test('--system and --model are for the agent that --for names', async () => {
    const made = await place.run(['fork', 'refund@4', '--system', 'Pay.', '--for', 'billing', '--name', 'for-billing']);
    expect(made.stderr).toContain('Nothing here is of agent "billing" yet.');
    const events = (await place.run(['replay', 'refund/for-billing', '--event-type', 'settings.changed', '--json']))
      .stdout;
    expect(JSON.parse(events)).toMatchObject({ agent: 'billing', data: { system: 'Pay.' } });
    expect((await conversation('refund/for-billing'))['system']).not.toBe('Pay.');
    await place.run(['edit', 'refund/for-billing', '--system', 'Look twice.', '--for', 'support']);
    expect((await conversation('refund/for-billing'))['system']).toBe('Look twice.');
    expect((await place.run(['fork', 'refund@4', '--drop', '2', '--for', 'support'])).code).toBe(2);
  });

  test('--set, --unset and --belief write for the agent that --for names', async () => {
    const belief = place.write('b.json', { topic: 'order', claim: 'It was 50.' });
    const made = await place.json(
      'fork',
      'refund',
      '--name',
      'st',
      '--set',
      'paid=50',
      '--set',
      'who="ada"',
      '--unset',
      'old',
      '--belief',
      belief,
      '--for',
      'ada',
    );
    expect(lineageOf(made).edits.map((edit) => edit['type'])).toEqual([
      'state.committed',
      'state.committed',
      'state.committed',
      'belief.committed',
    ]);
    const { stdout } = await place.run(['replay', 'refund/st', '--json', '--event-type', 'state.committed']);
    const first = JSON.parse(stdout.split('\n')[0] ?? '') as { data: unknown };
    expect(first.data).toEqual({ operations: [{ agent: 'ada', key: 'paid', op: 'write', value: 50, version: 1 }] });
  });

  test('--meta is the metadata of the branch', async () => {
    await place.json('fork', 'refund', '--name', 'meta', '--meta', 'team="blue"', '--meta', 'try=2');
    expect((await place.json('fold', 'refund/meta', 'metadata'))['value']).toEqual({ team: 'blue', try: 2 });
  });

  test('--story forks at the head without later turns', async () => {
    const { stdout } = await place.run(['fork', 'refund', '--story', '0']);
    expect(stdout).toContain('drops every event after turn 0');
    expect((await place.run(['fork', 'refund', '--story', 'x'])).code).toBe(2);
  });
});

describe('fork reads its edits', () => {
  test('--edit opens $EDITOR on the event at the point, and takes what it leaves', async () => {
    const env = { EDITOR: "sed -i 's/broken/whole/'" };
    const { code, stdout } = await place.run(['fork', 'refund@2', '--name', 'e', '--edit', '--json'], { env });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ lineage: { edits: [{ kind: 'replaced', target: 2 }] } });
    expect(JSON.stringify(await conversation('refund/e'))).toContain('arrived whole');
  });

  test('--edit forks nothing when nothing was changed, when the editor failed, and keeps what is not JSON', async () => {
    const edit = (EDITOR: string) => place.run(['fork', 'refund@2', '--edit'], { env: { EDITOR } });
    expect(await edit('true')).toMatchObject({ code: 2, stderr: expect.stringContaining('nothing was changed') });
    expect(await edit('false')).toMatchObject({ code: 2, stderr: expect.stringContaining('failed') });
    const broken = await edit('echo oops >>');
    expect(broken.code).toBe(2);
    const kept = /saved in (\S+):/.exec(broken.stderr)?.[1] ?? '';
    expect(existsSync(kept) && readFileSync(kept, 'utf8')).toContain('oops');
    expect((await place.run(['edit', 'refund@before:1', '--edit'])).code).toBe(1);
    const { stdout } = await place.run(['list', '--branches', '--json']);
    expect(stdout.trim().split('\n')).toHaveLength(2);
  });

  test('an EDITOR that is set to nothing counts as not set', async () => {
    const env = { EDITOR: 'sed -i s/broken/whole/', VISUAL: '' };
    expect((await place.run(['fork', 'refund@2', '--edit', '--name', 'e'], { env })).code).toBe(0);
  });

  test('a replacement of another type says both', async () => {
    const event = place.write('note.json', { type: 'note.added', data: { text: 'instead' } });
    const { stdout } = await place.run(['fork', 'refund@6', '--replace', `6=${event}`]);
    expect(stdout).toContain('  replaces @6 call.ended with note.added\n');
  });

  test('a seq that is not there is told in the words of the point', async () => {
    const { code, stderr } = await place.run(['fork', 'refund@6', '--name', 'far', '--drop', '99']);
    expect([code, stderr]).toEqual([1, 'Cannot find seq 99 in the view at "main@6"\nChoose a seq from 1 to 6.\n']);
  });

  test.each([
    ['no file', ['--replace', '3=missing.json'], 'cannot be read: no such file'],
    ['no seq', ['--drop', 'last'], 'is not a seq'],
    ['no "="', ['--tool-result', '3'], 'Write --tool-result SEQ=FILE'],
    ['no JSON', ['--replace', '3=text.txt'], 'is not JSON: Unexpected token'],
    ['an answer of a model as a result', ['--tool-result', '4=empty.json'], '--message SEQ=FILE'],
    ['no object', ['--replace', '3=list.json'], 'does not contain a JSON object'],
    ['no type', ['--insert', '3=empty.json'], 'the event has no type'],
    ['a text without quotes', ['--set', 'name=Ada'], `--set 'name="Ada"'`],
    ['stdin twice', ['--replace', '3=-', '--replace', '4=-'], 'a different option already read stdin'],
    ['a structural event', ['--append', 'marker.json'], 'is a structural event'],
  ])('an edit that cannot be read is wrong usage, says why, and forks nothing: %s', async (_, words, why) => {
    place.write('text.txt', 'not JSON');
    place.write('list.json', []);
    place.write('empty.json', {});
    place.write('marker.json', { type: 'branch.rewound', data: { to: 1 } });
    const input = words.includes('3=-') ? { stdin: '{}' } : {};
    const { code, stdout, stderr } = await place.run(['fork', 'refund', '--name', 'bad', ...words], input);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(why);
    expect((await place.run(['verify', 'refund/bad'])).code).toBe(1);
  });
});

describe('on a live branch', () => {
  test('edit changes the view, and redo takes that back', async () => {
    const edited = await place.json('edit', 'refund', '--drop', '5', '--reason', 'wrong amount', '--by', 'ada');
    expect(edited).toMatchObject({ ref: 'refund', undone: [5, 6], restored: [], dependents: [] });
    expect(edited['marker']).toMatchObject({
      type: 'event.reverted',
      seq: 8,
      agent: 'ada',
      data: { reason: 'wrong amount' },
    });
    expect(await place.json('redo', 'refund')).toMatchObject({ undone: [], restored: [5, 6] });
  });

  test('edit --edit opens the event that the ref names', async () => {
    const env = { EDITOR: "sed -i 's/Refunded 500/Refunded 50/'" };
    const { stdout } = await place.run(['edit', 'refund@7', '--edit'], { env });
    expect(stdout).toBe('event.replaced at refund@8: @7 left the view, @8 came into it\n');
  });

  test('edit of a point in the past is refused, with what to write', async () => {
    const { code, stderr } = await place.run(['edit', 'refund@3', '--drop', '2']);
    expect(code).toBe(2);
    expect(stderr).toContain('Write "refund"');
  });

  test('rewind goes back to a point, or takes later turns out', async () => {
    const rewound = await place.run(['rewind', 'refund@4', '--reason', 'before the refund']);
    expect(rewound.stdout).toBe('branch.rewound at refund@8: @5…@7 left the view\n');
    expect(rewound.stderr).toContain('reprise redo refund');
    await place.json('redo', 'refund');
    expect(await place.json('rewind', 'refund', '--story', '0')).toMatchObject({ undone: [2, 3, 4, 5, 6, 7] });
  });

  test('revert takes one event out with what belongs to it', async () => {
    expect(await place.json('revert', 'refund@5')).toMatchObject({ ref: 'refund', undone: [5, 6], dependents: [] });
    const twice = await place.run(['revert', 'refund@5', '--json']);
    expect([twice.code, JSON.parse(twice.stderr)]).toMatchObject([1, { error: { code: 'event.not-in-view' } }]);
  });
});

test.each([['rewind'], ['revert'], ['erase']])('%s does not guess the point', async (command) => {
  const words = [command, 'refund/careful', ...(command === 'erase' ? ['--yes'] : [])];
  const { code, stdout, stderr } = await place.run(words);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toContain('Add a seq: "refund/careful@SEQ"');
  expect(await place.json('verify', 'refund/careful')).toMatchObject({ events: 6 });
});

test('redo takes back an edit that only appended, and then the one before it', async () => {
  const drops = await place.json('edit', 'refund', '--drop', '5');
  const prompts = await place.json('edit', 'refund', '--system', 'Be brief.');
  const { undone: first } = await place.json('redo', 'refund');
  expect(first).toEqual([(prompts['marker'] as { seq: number }).seq]);
  expect(await place.json('redo', 'refund')).toMatchObject({ undone: [], restored: drops['undone'] });
});

test('an edit without edits, and a redo, say what is next', async () => {
  expect((await place.run(['edit', 'refund'])).stderr).toMatch(
    /^Cannot edit: no edits were given\nPass at least one edit/,
  );
  const edited = await place.run(['edit', 'refund', '--model', 'large-1']);
  expect(edited.stdout).toContain('@8 came into the view\n');
  await place.run(['rewind', 'refund@4']);
  expect((await place.run(['redo', 'refund'])).stderr).not.toContain('reprise redo');
});

test('what depended on a dropped event stays and is named; --cascade takes it out too', async () => {
  using own = new Place();
  {
    await using reprise = await own.open();
    const session = await reprise.createSession('demo');
    const [first] = await session.append({ type: 'note.added', data: { text: 'a' } });
    await session.append({ type: 'note.added', cause: String(first?.id), data: { text: 'b' } });
  }
  const kept = await own.run(['fork', 'demo', '--drop', '1', '--name', 'kept']);
  expect(kept.stderr).toContain('Kept although they depend on dropped events: @2.');
  const gone = lineageOf(await own.json('fork', 'demo', '--drop', '1', '--cascade'));
  expect(gone).toMatchObject({ dropped: [1, 2], dependents: [] });
  expect(await own.json('revert', 'demo/kept@2')).toMatchObject({ undone: [2] });
  const reverted = await own.run(['revert', 'demo@1']);
  expect(reverted.stderr).toContain('To take them out too, add --cascade.');
  await own.json('redo', 'demo');
  expect(await own.json('revert', 'demo@1', '--cascade')).toMatchObject({ undone: [1, 2], dependents: [] });
});

test('every change leaves a history that verifies', async () => {
  await place.json('fork', 'refund@4', '--name', 'v', '--prompt', 'x', '--drop', '3');
  await place.json('edit', 'refund/v', '--set', 'a=1');
  await place.json('rewind', 'refund/v@4');
  await place.json('redo', 'refund/v');
  expect(await place.json('verify', 'refund/v')).toMatchObject({ ok: true });
});
