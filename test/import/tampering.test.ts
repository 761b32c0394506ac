/** Bundles that somebody changed: every one is found, and the verdict names the first thing that is wrong. */
import { createHash } from 'node:crypto';
import { cp, mkdtemp, readFile, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chainDigest, dataDigestOf, genesisDigest } from '../../src/core/parts/digest.ts';
import { limits, makeSigningKey, openReprise, type Reprise, verifyBundle } from '../../src/index.ts';
import { tarEnd, tarHeader, tarPadding } from '../../src/node/tar.ts';

let folder = '';
let reprise: Reprise;
let count = 0;
let good = '';
let signed = '';
let key = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reprise-tampering-'));
  reprise = await openReprise({ store: 'memory:', config: false });
  const session = await reprise.createSession('demo');
  await session.append(
    ['one', 'two', 'three', 'four'].map((text) => ({
      type: 'message.added',
      data: { message: { role: 'user', content: text.repeat(200) } },
    })),
  );
  await session.fork('main@3', { name: 'careful' });
  await session.branch('careful').append({ type: 'note.added', data: { text: 'on careful' } });
  good = join(folder, 'good');
  signed = join(folder, 'signed');
  const made = makeSigningKey(join(folder, 'key.pem'));
  key = made.key;
  await (await reprise.session('demo')).exportBundle({ to: good });
  await (await reprise.session('demo')).exportBundle({ to: signed, sign: made.sign });
});
afterAll(async () => {
  await reprise.close();
  await rm(folder, { recursive: true, force: true });
});

const sha = (text: string | Uint8Array): string => createHash('sha256').update(text).digest('hex');

/** Copies a bundle and changes it. With `sealed`, the manifest is made to match, as a forger would do. */
async function changed(
  change: (lines: string[]) => readonly string[],
  { from = good, isSealed = false }: { readonly from?: string; readonly isSealed?: boolean } = {},
): Promise<string> {
  const path = join(folder, `t${++count}`);
  await cp(from, path, { recursive: true });
  const file = join(path, 'history.jsonl');
  const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
  const text = `${change(lines).join('\n')}\n`;
  await writeFile(file, text);
  if (isSealed)
    await rewriteManifest(path, (manifest) => {
      const [history] = manifest.files;
      if (history !== undefined) Object.assign(history, { bytes: Buffer.byteLength(text), sha256: sha(text) });
    });
  return path;
}

interface Manifest {
  session: { seed: string; genesis: string; id: string };
  branches: { name: string; head: number; digest: string }[];
  files: { name: string; bytes: number; sha256: string }[];
}

async function rewriteManifest(path: string, change: (manifest: Manifest) => void): Promise<void> {
  const file = join(path, 'manifest.json');
  const manifest = JSON.parse(await readFile(file, 'utf8')) as Manifest;
  change(manifest);
  await writeFile(file, `${JSON.stringify(manifest, null, 2)}\n`);
}

const eventAt = (lines: readonly string[], seq: number): number =>
  lines.findIndex((line) => line.startsWith(`{"event":{"seq":${seq},`));

const isNo = async (path: string, reason: RegExp, where: object = {}): Promise<void> => {
  const verdict = await verifyBundle(path);
  expect([verdict.ok, verdict.reason]).toEqual([false, expect.stringMatching(reason)]);
  expect(verdict.where).toMatchObject(where);
  expect(verdict.proves).toEqual([]);
  // A store that is not what it says is not opened, and nothing of it is imported.
  await expect(openReprise(`bundle:${path}`)).rejects.toMatchObject({ code: 'bundle.damaged' });
  await using target = await openReprise({ store: 'memory:', config: false });
  await expect(target.import(path)).rejects.toMatchObject({ code: 'bundle.damaged' });
  expect(await Array.fromAsync(target.sessions())).toEqual([]);
};

const edit = (seq: number, change: (event: Record<string, unknown>) => void) => (lines: string[]) => {
  const at = eventAt(lines, seq);
  const item = JSON.parse(lines[at] ?? '') as { event: Record<string, unknown> };
  change(item.event);
  return lines.with(at, JSON.stringify(item));
};

describe('the tamper matrix', () => {
  for (const isSealed of [false, true]) {
    const how = isSealed ? 'with a manifest made to match' : 'as it is';

    test(`an edited payload, an edited hash, an edited header, ${how}`, async () => {
      const payload = edit(2, (event) =>
        Object.assign(event, { data: '{"message":{"content":"twelve","role":"user"}}' }),
      );
      await isNo(await changed(payload, { isSealed }), /"main@2".*does not match its digest/, {
        branch: 'main',
        seq: 2,
      });
      const hash = edit(2, (event) => Object.assign(event, { digest: 'f'.repeat(64) }));
      await isNo(await changed(hash, { isSealed }), /"main@2"/, { branch: 'main', seq: 2 });
      const header = edit(3, (event) => Object.assign(event, { time: '2020-01-01T00:00:00.000Z' }));
      await isNo(await changed(header, { isSealed }), /"main@3"/, { branch: 'main', seq: 3 });
    });

    test(`a swapped, dropped and duplicated row, ${how}`, async () => {
      const swap = (lines: string[]) => {
        const [a, b] = [eventAt(lines, 2), eventAt(lines, 3)];
        return lines.with(a, lines[b] ?? '').with(b, lines[a] ?? '');
      };
      await isNo(await changed(swap, { isSealed }), /"main@2" is missing/, { branch: 'main', seq: 2 });
      const drop = (lines: string[]) => lines.toSpliced(eventAt(lines, 3), 1);
      await isNo(await changed(drop, { isSealed }), /"main@3" is missing/, { branch: 'main', seq: 3 });
      const twice = (lines: string[]) => lines.toSpliced(eventAt(lines, 3), 0, lines[eventAt(lines, 3)] ?? '');
      const said = isSealed ? /"main@3" comes a second time/ : /has more than the \d+ bytes/;
      await isNo(await changed(twice, { isSealed }), said);
    });

    test(`a bad line in the middle, undecodable bytes and a part that differs, ${how}`, async () => {
      const bad = (lines: string[]) => lines.with(eventAt(lines, 2), '{"event":{"seq":2');
      await isNo(await changed(bad, { isSealed }), /line \d+ of history\.jsonl is not well formed/, {
        file: 'history.jsonl',
      });
      const part = (lines: string[]) => lines.map((line) => line.replace('oneone', 'onetwo'));
      await isNo(await changed(part, { isSealed }), /part .* does not match its digest/);
      const bytes = await changed((lines) => lines, { isSealed });
      const file = join(bytes, 'history.jsonl');
      const held = await readFile(file);
      held[held.indexOf('"message.added"') + 3] = 0xff;
      await writeFile(file, held);
      await isNo(bytes, /line \d+ of history\.jsonl is not well formed/, { file: 'history.jsonl' });
    });

    test(`a missing part, a missing branch and a cut tail, ${how}`, async () => {
      const part = (lines: string[]) => lines.filter((line) => !line.startsWith('{"part"') || !line.includes('twotwo'));
      const path = await changed(part, { isSealed });
      expect(await verifyBundle(path)).toMatchObject({
        ok: false,
        reason: expect.stringMatching(isSealed ? /a part of seq 2 is missing/ : /cut off/),
      });
      const branch = (lines: string[]) =>
        lines.slice(
          0,
          lines.findLastIndex((line) => line.startsWith('{"branch"')),
        );
      await isNo(await changed(branch, { isSealed }), isSealed ? /"careful" ends at seq 0/ : /cut off/);
      await isNo(
        await changed((lines) => lines.slice(0, -1), { isSealed }),
        isSealed ? /"careful" ends at seq 4, and the manifest says 5/ : /cut off/,
      );
    });
  }

  test('a wrong genesis, a renamed branch, lying heads, roots and fingerprints', async () => {
    const tampered = async (change: (manifest: Manifest) => void, reason: RegExp): Promise<void> => {
      const path = await changed((lines) => lines);
      await rewriteManifest(path, change);
      expect(await verifyBundle(path)).toMatchObject({ ok: false, reason: expect.stringMatching(reason) });
    };
    await tampered(({ session }) => Object.assign(session, { seed: 'other' }), /genesis does not match its seed/);
    await tampered(
      ({ session }) => Object.assign(session, { seed: 'other', genesis: genesisDigest(sha as never, 'other') }),
      /"main@1"/,
    );
    await tampered(
      ({ branches }) => Object.assign(branches[1] ?? {}, { name: 'careless' }),
      /the branch "careful", and the manifest a different one/,
    );
    await tampered(
      ({ branches }) => Object.assign(branches[0] ?? {}, { head: 9 }),
      /ends at seq 4, and the manifest says 9/,
    );
    await tampered(
      ({ branches }) => Object.assign(branches[0] ?? {}, { root: 'a'.repeat(64) }),
      /Merkle root of "main"/,
    );
    await tampered((manifest) => Object.assign(manifest, { root: 'a'.repeat(64) }), /Merkle root of the session/);
    await tampered(
      ({ branches }) => Object.assign(branches[0] ?? {}, { fingerprint: 'rf1:0' }),
      /fingerprint of "main"/,
    );
    await tampered(({ session }) => Object.assign(session, { id: 'a\nb' }), /manifest\.json is not well formed/);
  });

  test('a forged row with a chain that fits is found by a signature or by a digest that was kept, and only so', async () => {
    const forged = async (from: string): Promise<string> => {
      const path = await changed(
        (lines) => {
          const at = lines.findLastIndex((line) => line.startsWith('{"event"'));
          const { event: last } = JSON.parse(lines[at] ?? '') as { event: Record<string, never> };
          const data = '{"text":"I was never here"}';
          const link = { ...last, seq: 6, id: 'forged', dataDigest: dataDigestOf(sha as never, 'salt', data) };
          const digest = chainDigest(sha as never, last['digest'] as never, link as never);
          const event = { ...last, seq: 6, id: 'forged', data, salt: 'salt', digest };
          return [...lines, JSON.stringify({ event })];
        },
        { from, isSealed: true },
      );
      const loose = await readFile(join(path, 'history.jsonl'), 'utf8');
      const { event } = JSON.parse(loose.trimEnd().split('\n').at(-1) ?? '') as { event: { digest: string } };
      await rewriteManifest(path, ({ branches }) =>
        Object.assign(branches[1] ?? {}, { head: 6, digest: event.digest }),
      );
      return path;
    };
    expect(await verifyBundle(await forged(good))).toMatchObject({
      ok: false,
      reason: expect.stringContaining('Merkle root'),
    });
    const bad = await forged(signed);
    expect(await verifyBundle(bad)).toMatchObject({
      ok: false,
      reason: expect.stringContaining('signature'),
      signature: { state: 'bad' },
    });
    // A session that was rewritten from its beginning has digests that fit; only an anchor tells.
    await using rewritten = await openReprise({ store: 'memory:', config: false });
    const session = await rewritten.createSession('demo');
    await session.append({ type: 'note.added', data: { text: 'another story' } });
    const path = join(folder, 'rewritten');
    await (await rewritten.session('demo')).exportBundle({ to: path });
    const verdict = await verifyBundle(path);
    expect([verdict.ok, verdict.doesNotProve.join(' ')]).toEqual([true, expect.stringContaining('rewritten chain')]);
    expect(await verifyBundle(path, { key })).toMatchObject({ ok: false });
    const { digest } = await (await reprise.session('demo')).locate();
    expect(await verifyBundle(path, { head: digest })).toMatchObject({
      ok: false,
      reason: expect.stringContaining('rewritten'),
    });
    expect(await verifyBundle(signed, { key, head: digest })).toMatchObject({ ok: true });
  });

  test('a receipt, a projection or a signature that was changed', async () => {
    for (const [name, text] of [
      ['receipts.jsonl', '{"digest":"x"}\n'],
      ['signature.json', '{"key":"ed25519:AAAA","signature":"AAAA"}\n'],
      ['signature.json', 'none'],
      ['manifest.json', '{'],
      ['manifest.json', '{"format":"reprise.bundle","version":1}'],
    ] as const) {
      const path = await changed((lines) => lines, { from: signed });
      await writeFile(join(path, name), text);
      expect(await verifyBundle(path)).toMatchObject({
        ok: false,
        reason: expect.stringContaining(name.replace(/\..*/, '')),
      });
    }
  });
});

test('a bundle that was written before the first release is refused by name', async () => {
  const path = await changed((lines) => lines);
  const manifest = JSON.parse(await readFile(join(path, 'manifest.json'), 'utf8')) as object;
  await writeFile(join(path, 'manifest.json'), JSON.stringify({ ...manifest, format: 'reprise-bundle' }));
  await expect(verifyBundle(path)).rejects.toMatchObject({
    code: 'bundle.invalid',
    message: expect.stringContaining('before the first release'),
    hint: expect.stringContaining('a release wrote'),
  });
});

/** Packs files into an archive as anybody could. */
function packed(files: readonly (readonly [string, string | Uint8Array])[], header = tarHeader): Buffer {
  const blocks = files.flatMap(([name, text]) => {
    const bytes = Buffer.from(text as string);
    return [header(name, bytes.length), bytes, tarPadding(bytes.length)];
  });
  return gzipSync(Buffer.concat([...blocks, tarEnd]));
}

async function archive(bytes: Buffer): Promise<string> {
  const path = join(folder, `a${++count}.tgz`);
  await writeFile(path, bytes);
  return path;
}

const names = ['manifest.json', 'history.jsonl', 'receipts.jsonl'] as const;
const own = async (): Promise<(readonly [string, string])[]> =>
  Promise.all(names.map(async (name) => [name, await readFile(join(good, name), 'utf8')] as const));

describe('archives', () => {
  test('that were packed elsewhere are read, if the manifest comes first', async () => {
    expect(await verifyBundle(await archive(packed(await own())))).toMatchObject({ ok: true });
    const [manifest, ...rest] = await own();
    await expect(verifyBundle(await archive(packed([...rest, manifest ?? ['', '']])))).rejects.toMatchObject({
      code: 'bundle.invalid',
    });
    await expect(verifyBundle(await archive(gzipSync(Buffer.concat([tarEnd]))))).rejects.toMatchObject({
      code: 'bundle.invalid',
    });
    await expect(verifyBundle(join(folder, 'none.tgz'))).rejects.toMatchObject({ code: 'store.not-found' });
  });

  test('with a torn tail, broken bytes, or something after the end', async () => {
    const whole = packed(await own());
    for (const length of [20, 400, whole.length - 12, whole.length - 1])
      await isNo(await archive(whole.subarray(0, length)), /cut off/);
    const flipped = Buffer.from(whole);
    flipped[Math.floor(whole.length / 2)] = (flipped[Math.floor(whole.length / 2)] ?? 0) ^ 0xff;
    expect((await verifyBundle(await archive(flipped))).ok).toBe(false);
    await isNo(await archive(Buffer.concat([whole, Buffer.from('and more')])), /follows the end|cannot be unpacked/);
    const tail = gunzipSync(whole);
    await isNo(await archive(gzipSync(Buffer.concat([tail, Buffer.from('x'.repeat(512))]))), /follows the end/);
  });

  test.each([
    ['../../escape.json', 'zip-slip'],
    ['/etc/passwd', 'an absolute path'],
    ['history.jsonl/../x', 'a path trick'],
    ['C:\\x', 'a drive'],
    ['history.jsonl\u0000.txt', 'a name with a zero'],
    ['history.jsonl', 'a second history'],
  ])('with a file named %s write nothing and are refused', async (name) => {
    await isNo(await archive(packed([...(await own()), [name, 'x']])), /that its manifest does not list/);
  });

  test('with a link, a folder or a device in them are refused', async () => {
    for (const type of ['1', '2', '3', '5', 'L', 'x']) {
      const header = (name: string, bytes: number): Uint8Array => {
        const plain = Buffer.from(tarHeader(name, bytes));
        if (name !== 'receipts.jsonl') return plain;
        plain.write(type, 156);
        plain.write('        ', 148);
        const sum = plain.reduce((total, byte) => total + byte, 0);
        plain.write(`${sum.toString(8).padStart(6, '0')}\u0000 `, 148);
        return plain;
      };
      await isNo(await archive(packed(await own(), header)), /"receipts\.jsonl" is not a plain file/);
    }
    const path = await changed((lines) => lines);
    await rename(join(path, 'history.jsonl'), join(folder, `moved${count}`));
    await symlink(join(folder, `moved${count}`), join(path, 'history.jsonl'));
    await isNo(path, /"history\.jsonl" is not a plain file/);
  });

  test('that inflate without end stop at what the manifest says, and the manifest at bundleManifestBytesMax', async () => {
    const [manifest, history = ['', '']] = await own();
    const long = [history[0], Buffer.concat([Buffer.from(history[1]), Buffer.alloc(50_000_000, 0x20)])] as const;
    await isNo(await archive(packed([manifest ?? ['', ''], long])), /has more than the \d+ bytes/);
    const huge = packed([['manifest.json', Buffer.alloc(limits.bundleManifestBytesMax + 1, 0x20)]]);
    expect(huge.length).toBeLessThan(100_000);
    expect(await verifyBundle(await archive(huge))).toMatchObject({
      ok: false,
      reason: expect.stringContaining('bundleManifestBytesMax'),
    });
  });

  test('that claim more than bundleBytesMax, or have a line over bundleLineBytesMax, are refused', async () => {
    const path = await changed((lines) => lines);
    await rewriteManifest(path, ({ files: [history] }) =>
      Object.assign(history ?? {}, { bytes: limits.bundleBytesMax + 1 }),
    );
    expect(await verifyBundle(path)).toMatchObject({ ok: false, reason: expect.stringContaining('bundleBytesMax') });
    const line = await changed((lines) => lines);
    await rewriteManifest(line, ({ files: [history] }) =>
      Object.assign(history ?? {}, { bytes: limits.bundleBytesMax - 1_000 }),
    );
    await truncate(join(line, 'history.jsonl'), limits.bundleLineBytesMax + 1_000_000);
    expect(await verifyBundle(line)).toMatchObject({
      ok: false,
      reason: expect.stringContaining('bundleLineBytesMax'),
    });
  });
});
