import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { bench, report, subjects } from './bench-run.ts';

const directory = mkdtempSync(join(tmpdir(), 'reprise-bench-test-'));

describe('npm run bench', () => {
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  it('runs only the groups that are named, leaves no file behind, and says which groups there are', () => {
    const before = readFileSync(report, 'utf8');
    const { status, output } = bench(directory, '--quick', 'disk');
    expect(output).toMatch(/disk an event/);
    expect(output).not.toMatch(/LangGraph/);
    expect(output).not.toMatch(/NaN|Infinity|undefined/);
    expect(status).toBe(0);
    expect(readdirSync(directory)).toEqual([]);
    expect(readFileSync(report, 'utf8')).toBe(before);
    const unknown = bench(directory, '--quick', 'dsik');
    expect(unknown.output).toMatch(/There is no group "dsik".*append, durable/);
    expect(unknown.status).toBe(2);
  });

  it('the kept report names its machine, its date and its command', () => {
    const text = readFileSync(report, 'utf8');
    expect(text).toMatch(/Written by `npm run bench` on \d{4}-\d\d-\d\d/);
    for (const fact of ['cores', 'processor', 'memory', 'node', 'sqlite']) expect(text).toContain(`| ${fact} |`);
    for (const subject of subjects) expect(text).toMatch(subject);
  });
});
