import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { bench, report, subjects } from './bench-run.ts';

const directory = mkdtempSync(join(tmpdir(), 'reprise-bench-test-'));

describe('npm run bench', () => {
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  // Every group in one go takes minutes on a machine that is busy with other things.
  it('--quick measures every row, leaves no file behind and keeps the last report', { timeout: 900_000 }, () => {
    const before = readFileSync(report, 'utf8');
    const { status, output } = bench(directory, '--quick');
    expect(output).toMatch(/\d+ of \d+ goals met/);
    for (const subject of subjects) expect(output).toMatch(subject);
    expect(output).not.toMatch(/NaN|Infinity|undefined/);
    expect(status).toBe(0);
    expect(readdirSync(directory)).toEqual([]);
    expect(readFileSync(report, 'utf8')).toBe(before);
  });
});
