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
        out: directory,
        opt: ['target=ts', 'import_extension=ts', 'erasable_syntax=true'],
      },
    ],
  });
  buf('generate', '--template', template);
  const [made, kept] = [join(directory, 'reprise/v1'), join(root, 'src/wire/generated/reprise/v1')];
  expect(readdirSync(made)).toEqual(readdirSync(kept));
  for (const name of readdirSync(made))
    expect(readFileSync(join(made, name), 'utf8')).toBe(readFileSync(join(kept, name), 'utf8'));
});

test('a change that would break a client is found', () => {
  const before = join(directory, 'before');
  cpSync(proto, before, { recursive: true });
  expect(buf('breaking', '--against', before)).toBe('');
  const path = join(before, 'reprise/v1/row.proto');
  writeFileSync(path, readFileSync(path, 'utf8').replace('uint64 seq = 2;', 'string seq = 2;'));
  expect(() => buf('breaking', '--against', before)).toThrow(/buf breaking/);
});
