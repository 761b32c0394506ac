import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { findConfigFile, loadConfigFile } from './config-file.ts';
import { chooseStore } from './store-location.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'reprise-config-'));
  return () => rmSync(folder, { recursive: true, force: true });
});

function write(path: string, text: string): string {
  const whole = join(folder, path);
  mkdirSync(join(whole, '..'), { recursive: true });
  writeFileSync(whole, text);
  return whole;
}

describe('findConfigFile()', () => {
  test('finds the nearest one on the way up to the root of the repository, and none above it', () => {
    const above = write('reprise.config.ts', 'export default {};');
    mkdirSync(join(folder, 'project/.git'), { recursive: true });
    const deep = join(folder, 'project/packages/one/src');
    mkdirSync(deep, { recursive: true });
    expect(findConfigFile(deep)).toBeUndefined();
    const ofRoot = write('project/reprise.config.mjs', 'export default {};');
    expect(findConfigFile(deep)).toBe(ofRoot);
    const ofPackage = write('project/packages/one/reprise.config.js', 'export default {};');
    expect(findConfigFile(deep)).toBe(ofPackage);
    expect(findConfigFile(folder)).toBe(above);
  });

  test('outside of a repository only the folder itself is looked at: what lies above is not run', () => {
    write('reprise.config.ts', 'export default {};');
    mkdirSync(join(folder, 'below'));
    expect(findConfigFile(join(folder, 'below'))).toBeUndefined();
  });

  test('TypeScript goes before JavaScript', () => {
    write('reprise.config.js', 'export default {};');
    expect(findConfigFile(folder)).toBe(join(folder, 'reprise.config.js'));
    write('reprise.config.ts', 'export default {};');
    expect(findConfigFile(folder)).toBe(join(folder, 'reprise.config.ts'));
  });
});

describe('loadConfigFile()', () => {
  test('runs TypeScript as it is', async () => {
    const path = write('reprise.config.mts', 'const store: string = "memory:";\nexport default { store };');
    expect(await loadConfigFile(path)).toEqual({ file: path, config: { store: 'memory:' } });
  });

  test.each([
    ['a syntax error', 'export default {', /Cannot load ".*reprise\.config\.mjs": /],
    ['an error that it throws', 'throw new Error("no key");\nexport default {};', /Cannot load .*: no key/],
    ['an import that is not there', 'import "./gone.js";\nexport default {};', /Cannot load /],
    ['no default export', 'export const config = {};', /it has no default export/],
    ['a wrong field', 'export default { agents: { a: 1 } };', /Cannot use "agents\.a" of ".*": /],
  ])('names the file when there is %s', async (_, text, message) => {
    const path = write('reprise.config.mjs', text);
    await expect(loadConfigFile(path)).rejects.toMatchObject({
      code: 'config.invalid',
      message: expect.stringMatching(message) as string,
      details: { file: path },
    });
  });
});

describe('chooseStore()', () => {
  beforeEach(() => {
    const before = process.env['REPRISE_STORE'];
    delete process.env['REPRISE_STORE'];
    return () => {
      if (before === undefined) delete process.env['REPRISE_STORE'];
      else process.env['REPRISE_STORE'] = before;
    };
  });

  test('what is given goes before the environment, that before the configuration, that before the default', () => {
    const loaded = { file: join(folder, 'reprise.config.ts'), config: { store: 'sqlite:runs.db' } };
    expect(chooseStore(undefined, {}).by).toBe('default');
    expect(chooseStore(undefined, { config: { ...loaded, config: {} } }).by).toBe('default');
    expect(chooseStore(undefined, { config: loaded })).toEqual({
      location: { kind: 'sqlite', path: join(folder, 'runs.db') },
      by: 'config',
    });
    process.env['REPRISE_STORE'] = 'memory:';
    expect(chooseStore(undefined, { config: loaded })).toEqual({ location: { kind: 'memory' }, by: 'environment' });
    expect(chooseStore('sqlite:/a.db', { config: loaded })).toEqual({
      location: { kind: 'sqlite', path: '/a.db' },
      by: 'given',
    });
  });

  test('an address of the configuration that no store answers to names the file and the field', () => {
    const loaded = { file: '/p/reprise.config.ts', config: { store: 'redis://x' } };
    expect(() => chooseStore(undefined, { config: loaded })).toThrow('Cannot use "store" of "/p/reprise.config.ts": ');
  });
});
