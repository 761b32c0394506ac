import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const proto = join(root, 'proto');
let directory = '';
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'reprise-schema-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function buf(...values: string[]): string {
  const PATH = `${join(root, 'node_modules', '.bin')}:${process.env['PATH']}`;
  return execFileSync('buf', values, { cwd: proto, encoding: 'utf8', env: { ...process.env, PATH } });
}

test('the schema keeps to the rules of buf, and to its format', () => {
  expect(buf('lint')).toBe('');
  expect(buf('format', '--diff')).toBe('');
});

test('the generated code is the one that the schema gives', () => {
  const template = JSON.stringify({
    version: 'v2',
    plugins: [
      {
        local: 'protoc-gen-es',
        out: join(directory, 'made'),
        opt: ['target=ts', 'import_extension=ts', 'erasable_syntax=true'],
      },
    ],
  });
  buf('generate', '--template', template);
  const [made, kept] = [join(directory, 'made'), join(root, 'src/wire/generated')];
  const filesIn = (folder: string): string[] =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .toSorted();
  expect(filesIn(made)).toEqual(filesIn(kept));
  for (const name of filesIn(made))
    expect(readFileSync(join(made, name), 'utf8')).toBe(readFileSync(join(kept, name), 'utf8'));
});

const releases = readdirSync(join(root, 'test/compat/wire'));

test.each(releases)('the schema breaks no client of release %s', (release) => {
  expect(buf('breaking', '--against', join(root, 'test/compat/wire', release))).toBe('');
});

test('a change that would break a client is found', () => {
  const before = join(directory, 'before');
  cpSync(join(root, 'test/compat/wire', releases[0] ?? ''), before, { recursive: true });
  const path = join(before, 'reprise/v1/row.proto');
  writeFileSync(path, readFileSync(path, 'utf8').replace('uint64 seq = 2;', 'string seq = 2;'));
  const found = (() => {
    try {
      return buf('breaking', '--against', before);
    } catch (error) {
      return String((error as { stdout?: unknown }).stdout);
    }
  })();
  expect(found).toContain('row.proto');
});
