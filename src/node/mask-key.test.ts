import { execFile } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { maskKey, maskKeySource } from './mask-key.ts';

let home = '';
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'reprise-key-'));
  vi.stubEnv('REPRISE_MASK_KEY', '');
  vi.stubEnv('XDG_CONFIG_HOME', home);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(home, { recursive: true, force: true });
});

const path = (): string => join(home, 'reprise', 'mask-key');

describe('the key of masks', () => {
  test('is that of the environment', () => {
    vi.stubEnv('REPRISE_MASK_KEY', 'a key that is long enough');
    expect([maskKey(), maskKeySource()]).toEqual(['a key that is long enough', { kind: 'environment' }]);
    expect(existsSync(path())).toBe(false);
  });

  test('is else random, in a file that only the user can read, and the same from then on', () => {
    expect(maskKeySource()).toEqual({ kind: 'file', path: path() });
    expect(existsSync(path())).toBe(false);
    const key = maskKey();
    expect(key).toMatch(/^[\w-]{43}$/);
    expect([maskKey(), readFileSync(path(), 'utf8')]).toEqual([key, `${key}\n`]);
    if (process.platform !== 'win32') {
      expect(statSync(path()).mode & 0o777).toBe(0o600);
      expect(statSync(join(home, 'reprise')).mode & 0o777).toBe(0o700);
    }
    expect(readdirSync(join(home, 'reprise'))).toEqual(['mask-key']);
  });

  test('is one, although several processes make it at once', async () => {
    const code = `console.log((await import(${JSON.stringify(join(import.meta.dirname, 'mask-key.ts'))})).maskKey())`;
    const run = () => promisify(execFile)(process.execPath, ['--input-type=module', '-e', code]);
    const keys = await Promise.all([run(), run(), run(), run()]);
    expect(new Set(keys.map(({ stdout }) => stdout)).size).toBe(1);
    expect(readdirSync(join(home, 'reprise'))).toEqual(['mask-key']);
  });

  test('is refused if others can read it, and says what to do', () => {
    maskKey();
    chmodSync(path(), 0o644);
    expect(maskKey).toThrow(
      expect.objectContaining({
        code: 'mask.key-invalid',
        message: `Cannot use the mask key in ${path()}: others can read it (its mode is 644)`,
        hint: `Run: chmod 600 ${path()}. Or set REPRISE_MASK_KEY.`,
      }),
    );
  });

  test('is refused if it could be guessed, or is not a file', () => {
    vi.stubEnv('REPRISE_MASK_KEY', 'short');
    expect(maskKey).toThrow('Cannot use the mask key in REPRISE_MASK_KEY: it has 5 characters, and could be guessed');
    vi.stubEnv('REPRISE_MASK_KEY', '');
    mkdirSync(path(), { recursive: true, mode: 0o700 });
    expect(maskKey).toThrow(/EISDIR/);
    rmSync(path(), { recursive: true });
    writeFileSync(path(), '\n', { mode: 0o600 });
    expect(maskKey).toThrow('0 characters');
  });

  test('lasts as long as the process where no file can be made', () => {
    writeFileSync(join(home, 'file'), '');
    vi.stubEnv('XDG_CONFIG_HOME', join(home, 'file'));
    const key = maskKey();
    expect(key).toHaveLength(43);
    expect(maskKey()).toBe(key);
  });
});
