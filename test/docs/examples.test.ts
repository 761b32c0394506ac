/** The examples are short, run, and print something. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { root, Workshop } from './workshop.ts';

const linesMax = 60;
const folder = join(root, 'examples');
const names = readdirSync(folder).filter((name) => name.endsWith('.ts'));
let workshop: Workshop;

beforeAll(() => {
  workshop = new Workshop();
});
afterAll(() => workshop[Symbol.dispose]());

describe.concurrent('the examples', () => {
  test.each(names)('%s runs and prints something', async (name) => {
    const text = readFileSync(join(folder, name), 'utf8');
    expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(linesMax);
    const { code, stdout, stderr } = await workshop.run(workshop.write(`${name.slice(0, 2)}/${name}`, text));
    expect(code, stderr).toBe(0);
    expect(stdout.split('\n').length).toBeGreaterThan(3);
  });
});

test('every example is named in a document', () => {
  const documents = ['README.md', 'docs/start.md', 'docs/README.md']
    .map((page) => readFileSync(join(root, page), 'utf8'))
    .join('\n');
  expect(names.filter((name) => !documents.includes(`examples/${name}`))).toEqual([]);
});
