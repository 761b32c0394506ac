/** Bundles: the same bytes for the same history, read as a store, imported as a copy, redacted and signed. */
import { createHash } from 'node:crypto';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  conversation,
  type Message,
  makeSigningKey,
  openReprise,
  type Reprise,
  type Session,
  verifyBundle,
  verifyProof,
} from '../../src/index.ts';
import type { InclusionProof } from '../../src/results.ts';

let folder = '';
let reprise: Reprise;
let count = 0;
const path = (ending = ''): string => join(folder, `b${++count}${ending}`);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reprise-bundle-test-'));
  reprise = await openReprise({ store: 'memory:', config: false });
});
afterAll(async () => {
  await reprise.close();
  await rm(folder, { recursive: true, force: true });
});

const long = (text: string): string => `${text} `.repeat(60);

/** Makes a session with everything that a bundle has to carry: lists, bodies, forks, edits, rewinds, erasures, receipts. */
async function rich(on: Reprise, id: string): Promise<Session> {
  const session = await on.createSession(id, { metadata: { owner: 'support' } });
  const recorder = await session.record({ agent: 'support' });
  const messages: Message[] = [];
  for (let turn = 1; turn <= 4; turn++) {
    messages.push({ role: 'user', content: long(`Question ${turn}, with the word pineapple${turn}.`) });
    await recorder.run({ agent: 'support', messages }, async () => {
      await recorder.call({ kind: 'model', name: 'm', request: { messages } }, async () => long(`Answer ${turn}.`));
      await recorder.call({ kind: 'tool', name: 'lookup', input: { order: turn } }, async () => ({
        said: long(`Paid ${turn}`),
      }));
    });
    const body = JSON.stringify({ messages, model: 'm' });
    const request = { call: `raw${turn}`, kind: 'model', name: 'm', request: { body } };
    await recorder.flush();
    await session.append({ type: 'call.started', data: request });
    messages.push({ role: 'assistant', content: long(`Answer ${turn}.`) });
  }
  await recorder.close();
  await session.fork('main@6', { name: 'careful', prompt: long('Only look at the pool.') });
  await session.branch('careful').append({ type: 'note.added', data: { text: 'on careful' } });
  await session.fork('careful', { name: 'deeper' });
  await session.branch('deeper').append({ type: 'note.added', data: { text: long('on deeper') } });
  await session.append({ type: 'note.added', data: { text: long('Nobody may read this.') } });
  await session.rewind(9);
  await session.state.transaction(async (tx) => {
    tx.write('pool', { size: 4 });
  });
  return session;
}

async function files(at: string): Promise<Record<string, string>> {
  const names = (await readdir(at)).sort();
  const texts = await Promise.all(names.map((name) => readFile(join(at, name), 'utf8')));
  return Object.fromEntries(names.map((name, index) => [name, texts[index] ?? '']));
}

const sha = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

describe('a bundle', () => {
  test('has the same bytes wherever and whenever it is written, as a folder and as an archive', async () => {
    const session = await rich(reprise, 'same');
    const [noted] = await Array.fromAsync(session.replay({ history: 'raw', filter: { types: ['note.added'] } }));
    await session.erase({ branch: 'main', seq: noted?.seq ?? 0 });
    const [one, packed] = [path(), path('.tgz')];
    const { manifest } = await (await reprise.session('same')).exportBundle({ to: one, projections: [conversation] });
    await (await reprise.session('same')).exportBundle({ to: packed, projections: [conversation] });
    await using copy = await openReprise({ store: `sqlite:${path('.db')}`, config: false, namespace: 'elsewhere' });
    await reprise.copy(copy, { sessions: ['same'] });
    const [two, again] = [path(), path('.tgz')];
    await (await copy.session('same')).exportBundle({ to: two, projections: [conversation] });
    await (await copy.session('same')).exportBundle({ to: again, projections: [conversation] });
    expect(await files(two)).toEqual(await files(one));
    expect(sha(await readFile(again))).toBe(sha(await readFile(packed)));
    expect(gunzipSync(await readFile(packed)).toString()).toContain(manifest.root);
    expect(Object.keys(await files(one))).toEqual([
      'history.jsonl',
      'manifest.json',
      'projections.jsonl',
      'receipts.jsonl',
    ]);
    expect(await verifyBundle(packed, { projections: [conversation] })).toMatchObject({
      ok: true,
      reason: null,
      session: 'same',
    });
  });

  test('is a store to read: show, diff, verify and copy work, and nothing can be written', async () => {
    const session = await rich(reprise, 'store');
    const to = path('.tgz');
    await (await reprise.session('store')).exportBundle({ to });
    await using bundle = await openReprise(`bundle:${to}`);
    const held = await bundle.session('store');
    for (const branch of ['main', 'careful', 'deeper']) {
      expect(await held.at(branch).fold(conversation)).toEqual(await session.at(branch).fold(conversation));
      expect(await held.at(branch).fingerprint()).toBe(await session.at(branch).fingerprint());
    }
    expect((await bundle.diff('store', 'store/careful')).forkPoint).toEqual(
      (await reprise.diff('store', 'store/careful')).forkPoint,
    );
    expect((await held.verify({ deep: true })).ok).toBe(true);
    expect(await held.state.get('pool')).toEqual(await session.state.get('pool'));
    await expect(held.append({ type: 'note.added', data: { text: 'x' } })).rejects.toMatchObject({
      code: 'store.read-only',
    });
    await expect(bundle.createSession('x')).rejects.toMatchObject({ code: 'store.read-only' });
    expect(await bundle.health()).toMatchObject({ kind: 'bundle', location: `bundle:${to}`, durability: 'read-only' });
    await using target = await openReprise({ store: 'memory:', config: false });
    expect((await bundle.copy(target)).sessions).toMatchObject([{ session: 'store', outcome: 'copied' }]);
  });

  test('of a branch or a point holds the history that leads there, and nothing else', async () => {
    await rich(reprise, 'scoped');
    const to = path();
    const { manifest } = await reprise.at('scoped/deeper').exportBundle({ to });
    expect(manifest.branches.map(({ name, head }) => [name, head])).toEqual([
      ['main', 6],
      ['careful', expect.any(Number)],
      ['deeper', expect.any(Number)],
    ]);
    expect((await files(to))['history.jsonl']).not.toContain('Nobody may read this');
    await using target = await openReprise({ store: 'memory:', config: false });
    const { id } = await target.import(to);
    expect((await (await target.session(id)).at('deeper').verify()).ok).toBe(true);
    // The whole session comes on top later.
    const whole = path();
    await (await reprise.session('scoped')).exportBundle({ to: whole });
    const outcomes: string[] = [];
    for await (const told of target.importAll(whole))
      outcomes.push('outcome' in told ? told.outcome : String(told.error));
    for await (const told of target.importAll(whole))
      outcomes.push('outcome' in told ? told.outcome : String(told.error));
    expect(outcomes).toEqual(['extended', 'unchanged']);
    const point = await reprise.at('scoped@3').exportBundle({ to: path() });
    expect([point.manifest.of, point.events]).toEqual([{ branch: 'main', seq: 3 }, 3]);
  });

  test('of a branch is refused if an erasure outside of it accounts for a payload', async () => {
    const session = await rich(reprise, 'outside');
    await session.erase({ branch: 'main', seq: 3 });
    await expect(reprise.at('outside/deeper').exportBundle({ to: path() })).rejects.toMatchObject({
      code: 'export.invalid',
      hint: expect.stringContaining('whole session'),
    });
    await (await reprise.session('outside')).exportBundle({ to: path() });
  });

  test('of random sessions is imported with the same events', async () => {
    const step = fc.oneof(
      fc.record({
        kind: fc.constant('append' as const),
        text: fc.string({ unit: 'grapheme', maxLength: 700 }),
        at: fc.nat(),
      }),
      fc.record({
        kind: fc.constantFrom('fork' as const, 'rewind' as const, 'erase' as const, 'replace' as const),
        text: fc.constant(''),
        at: fc.nat(),
      }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
        const id = `random-${++count}`;
        const session = await reprise.createSession(id);
        await session.append({ type: 'note.added', data: { text: 'first' } });
        const branches = ['main'];
        for (const { kind, text, at } of steps) {
          const branch = branches[at % branches.length] ?? 'main';
          const { head } = await session.branch(branch).locate();
          const seq = 1 + (at % head);
          if (kind === 'append') await session.branch(branch).append({ type: 'note.added', data: { text } });
          else if (kind === 'fork') branches.push((await session.at({ branch, seq }).fork({})).name);
          else if (kind === 'rewind') await session.branch(branch).rewind(seq).catch(refused);
          else if (kind === 'erase') await session.erase({ branch, seq }).catch(refused);
          else
            await session
              .branch(branch)
              .edit({ kind: 'replace', seq, event: { data: { text: 'new' } } })
              .catch(refused);
        }
        const to = path('.tgz');
        await (await reprise.session(id)).exportBundle({ to });
        await using target = await openReprise({ store: 'memory:', config: false });
        const copy = await target.import(to);
        for (const at of branches)
          expect(await Array.fromAsync(copy.at(at).replay({ history: 'raw' }))).toEqual(
            await Array.fromAsync(session.at(at).replay({ history: 'raw' })),
          );
        await rm(to);
      }),
      { numRuns: Number(process.env['REPRISE_RUNS'] ?? 12) },
    );
  });
});

const refused = (error: unknown): void => {
  expect(error).toMatchObject({ name: 'RepriseError' });
};

describe('redaction', () => {
  test('takes payloads out wherever they are repeated, keeps the proof, and leaves the source alone', async () => {
    const session = await rich(reprise, 'redact');
    const before = await Array.fromAsync(session.replay({ history: 'raw' }));
    const to = path();
    const { manifest } = await (await reprise.session('redact')).exportBundle({
      to,
      redact: ['tool:lookup', 'text:pineapple2'],
    });
    const text = Object.values(await files(to)).join('\n');
    expect(text).not.toContain('Paid 1');
    expect(text).not.toContain('pineapple2');
    expect(text).toContain('pineapple1');
    expect(manifest.redacted).toMatchObject({ rules: ['tool:lookup', 'text'] });
    expect(await Array.fromAsync(session.replay({ history: 'raw' }))).toEqual(before);
    const head = (await session.locate()).digest;
    expect(await verifyBundle(to, { head })).toMatchObject({ ok: true, redacted: { rules: ['tool:lookup', 'text'] } });
    // The same rules on the same history give the same bundle.
    const again = path();
    await (await reprise.session('redact')).exportBundle({ to: again, redact: ['tool:lookup', 'text:pineapple2'] });
    expect(await files(again)).toEqual(await files(to));
  });

  test('is imported with the erasures it stands for, and never over the session it was made of', async () => {
    await rich(reprise, 'moved');
    const to = path('.tgz');
    await (await reprise.session('moved')).exportBundle({ to, redact: ['all'] });
    await using target = await openReprise({ store: 'memory:', config: false });
    const told = await Array.fromAsync(target.importAll(to));
    expect(told).toMatchObject([
      {
        session: 'moved',
        outcome: 'imported',
        warnings: expect.arrayContaining([expect.objectContaining({ message: expect.stringContaining('moved from') })]),
      },
    ]);
    const held = await target.session('moved');
    expect((await held.verify()).ok).toBe(true);
    for await (const { type, erased } of held.replay({ history: 'raw' }))
      expect([type, erased]).toEqual([type, /^(?:branch|event|payload)\./.test(type) ? undefined : true]);
    expect(await Array.fromAsync(target.importAll(to))).toMatchObject([{ outcome: 'unchanged' }]);
    await expect(reprise.import(to)).rejects.toMatchObject({ code: 'session.exists' });
  });

  test.each(['all', 'pattern:Harbour'])('by %s takes what people wrote into markers', async (rule) => {
    await using own = await openReprise({ store: 'memory:', config: false });
    const session = await own.createSession('words', { metadata: { home: '12 Harbour Street' } });
    await session.append({ type: 'note.added', data: { text: 'Delivered.' } });
    await session.fork('main', { name: 'careful', reason: 'Harbour Street is closed', metadata: { try: 2 } });
    await session.branch('careful').rewind(1, { reason: 'Harbour Street is open' });
    const to = path();
    await (await own.session('words')).exportBundle({ to, redact: [rule] });
    expect(Object.values(await files(to)).join('\n')).not.toContain('Harbour');
    expect(await verifyBundle(to, { head: (await session.at('careful').locate()).digest })).toMatchObject({ ok: true });
  });

  test('by secrets finds what masking finds, and is refused when masking is off', async () => {
    const session = await reprise.createSession('secret');
    const key = `sk-ant-api03-${'abcdEFGH1234'.repeat(8)}-AA`;
    await session.append([
      { type: 'note.added', data: { text: `Use ${key} please` } },
      { type: 'note.added', data: { text: 'Nothing to hide here' } },
    ]);
    const to = path();
    await (await reprise.session('secret')).exportBundle({ to, redact: ['secrets'] });
    const text = Object.values(await files(to)).join('\n');
    expect(text).not.toContain(key);
    expect(text).toContain('Nothing to hide here');
    await using plain = await openReprise({ store: 'memory:', config: false, masking: false });
    await reprise.copy(plain, { sessions: ['secret'] });
    await expect(
      (await plain.session('secret')).exportBundle({ to: path(), redact: ['secrets'] }),
    ).rejects.toMatchObject({
      code: 'option.invalid',
    });
    await expect(
      (await reprise.session('secret')).exportBundle({ to: path(), redact: ['pattern:['] }),
    ).rejects.toMatchObject({
      code: 'option.invalid',
      message: expect.stringContaining('is not a regular expression'),
    });
  });
});

describe('signatures', () => {
  test('are good with the given or pinned key, and say so when nobody vouched for it', async () => {
    await rich(reprise, 'signed');
    const own = makeSigningKey(join(folder, 'own.pem'));
    const other = makeSigningKey(join(folder, 'other.pem'));
    const to = path('.tgz');
    await (await reprise.session('signed')).exportBundle({ to, sign: own.sign });
    expect((await verifyBundle(to)).signature).toMatchObject({ state: 'good', trust: 'unknown' });
    expect((await verifyBundle(to)).doesNotProve.join(' ')).toContain('no one vouched');
    expect((await verifyBundle(to, { key: own.key })).signature).toMatchObject({ state: 'good', trust: 'given' });
    expect((await verifyBundle(to, { pinned: { ada: own.key } })).signature).toMatchObject({
      trust: 'pinned',
      name: 'ada',
    });
    expect(await verifyBundle(to, { key: other.key })).toMatchObject({
      ok: false,
      reason: expect.stringContaining('different key'),
    });
    const plain = path();
    await (await reprise.session('signed')).exportBundle({ to: plain });
    expect(await verifyBundle(plain, { key: own.key })).toMatchObject({
      ok: false,
      reason: expect.stringContaining('not signed'),
    });
  });
});

describe('proofs', () => {
  test('show one event without the rest; every change of one is found', async () => {
    await rich(reprise, 'proved');
    const to = path();
    const { manifest } = await (await reprise.session('proved')).exportBundle({ to });
    for (const ref of ['proved@4', 'proved/deeper@2', 'proved/deeper@head']) {
      const proof = (await reprise.at(ref).prove()) as InclusionProof;
      expect(verifyProof(proof, { root: manifest.root })).toMatchObject({ ok: true });
      expect(verifyProof(JSON.parse(JSON.stringify(proof)), { root: proof.tree.root }).ok).toBe(true);
      expect(JSON.stringify(proof)).not.toContain('Nobody may read this');
      const changes: ((proof: InclusionProof) => unknown)[] = [
        (held) => ({ ...held, event: { ...held.event, time: '2020-01-01T00:00:00.000Z' } }),
        (held) => ({ ...held, previous: held.digest }),
        (held) => ({ ...held, path: held.path.slice(1) }),
        (held) => ({ ...held, tree: { ...held.tree, size: held.tree.size + 1 } }),
        (held) => ({ ...held, session: { ...held.session, root: held.tree.root } }),
        (held) => ({ ...held, payload: held.payload && { ...held.payload, data: `${held.payload.data} ` } }),
      ];
      for (const change of changes) expect(verifyProof(change(proof))).toMatchObject({ ok: false });
      expect(verifyProof(proof, { root: proof.digest })).toMatchObject({ ok: false });
    }
    expect(() => verifyProof({ proof: 'reprise-inclusion' })).toThrow('not well formed');
  });

  test('show that a history extends an earlier one, for every pair of sizes', async () => {
    const session = await reprise.createSession('grows');
    for (let at = 1; at <= 9; at++) await session.append({ type: 'note.added', data: { text: `${at}` } });
    for (let second = 0; second <= 9; second++)
      for (let first = 0; first <= second; first++) {
        const proof = await reprise.at(`grows@${second}`).prove({ since: first });
        expect(verifyProof(proof), `${first} of ${second}`).toMatchObject({ ok: true });
        if (first === 0 || first === second) continue;
        const forged = {
          ...proof,
          first: {
            size: first,
            root: ((await reprise.at('grows@9').prove({ since: first - 1 })) as never as { first: { root: string } })
              .first.root,
          },
        };
        expect(verifyProof(forged), `${first} of ${second}`).toMatchObject({ ok: false });
      }
  });
});

test('a bundle that an export was killed in is not there', async () => {
  await rich(reprise, 'killed');
  const at = join(folder, 'late', 'bundle');
  await mkdir(join(folder, 'late'));
  const broken = () => {
    throw new Error('the pen broke');
  };
  await expect((await reprise.session('killed')).exportBundle({ to: at, sign: broken })).rejects.toThrow(
    'the pen broke',
  );
  expect(await readdir(join(folder, 'late'))).toEqual([]);
  await (await reprise.session('killed')).exportBundle({ to: at });
  await cp(at, `${at}-2`, { recursive: true });
  await writeFile(join(`${at}-2`, 'notes.txt'), 'mine');
  expect(await verifyBundle(`${at}-2`)).toMatchObject({ ok: false, where: { file: 'notes.txt' } });
});
