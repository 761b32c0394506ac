/** Every `ts` block of every document runs, prints what the page says it prints, and has the right types. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { apiPages } from '../../scripts/api-page.ts';
import { examplePrograms } from './doc-comments.ts';
import { programOf, scriptsOf } from './pages.ts';
import { root, Workshop } from './workshop.ts';

// Their blocks are the examples of the doc comments, which run below, each on its own. They are checked as they would be
// written, whether they were or not.
const generated = apiPages();

/** The README of each folder that is hard to change. */
const folderPages = ['src', 'studio'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
    .filter((name) => name.endsWith('.md')),
);

const pages = [
  ...readdirSync(root).filter((name) => name.endsWith('.md')),
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .map((name) => `docs/${name.replaceAll('\\', '/')}`)
    .filter((name) => name.endsWith('.md') && !name.startsWith('docs/reference/api/')),
  ...folderPages,
  ...generated.keys(),
].toSorted();
const textOf = (page: string): string => generated.get(page) ?? readFileSync(join(root, page), 'utf8');
const exists = (path: string): boolean => generated.has(path) || existsSync(join(root, path));
const programs = pages.flatMap((page) => {
  const program = generated.has(page) ? undefined : programOf(textOf(page));
  return program === undefined ? [] : [{ page, ...program }];
});
const scripts = (JSON.parse(textOf('package.json')) as { scripts: Record<string, string> }).scripts;
const comments = examplePrograms(root);

let workshop: Workshop;
const paths = new Map<string, string>();

beforeAll(() => {
  workshop = new Workshop();
  for (const { page, text } of programs)
    paths.set(page, workshop.write(`${page.replaceAll(/[/.]/g, '-')}/page.ts`, text));
  for (const { file, text } of comments)
    paths.set(file, workshop.write(`${file.replaceAll(/[/.]/g, '-')}/page.ts`, text));
});
afterAll(() => workshop[Symbol.dispose]());

/** Paths in errors as the reader knows them: the program of a page has the line numbers of the page. */
function told(text: string): string {
  let result = text;
  for (const [page, path] of paths) result = result.replaceAll(`file://${path}`, page).replaceAll(path, page);
  return result;
}

async function runs(name: string, output?: string): Promise<void> {
  const path = paths.get(name) as string;
  const { code, stdout, stderr } = await (output === undefined ? workshop.import(path) : workshop.run(path));
  expect(code, told(`${stderr}${stdout}`)).toBe(0);
  if (output !== undefined) expect(stdout).toBe(output);
}

describe.concurrent('the code of the documents runs', () => {
  test.each(programs.map(({ page, output }) => [page, output] as const))('%s', runs);
});

describe.concurrent('the examples of the doc comments run', () => {
  test.each(comments.map(({ file }) => [file] as const))('%s', (file) => runs(file));
});

test('the code of the documents and of the doc comments has the right types', async () => {
  const { stdout } = await workshop.check();
  const lines = stdout.split('\n').filter((line) => line !== '');
  const known = new Map([...paths].map(([page, path]) => [path.slice(workshop.folder.length + 1), page]));
  // The source itself is checked with its own, stricter options elsewhere.
  const found = lines.flatMap((line) => {
    const path = line.slice(0, line.indexOf('('));
    const page = known.get(path);
    return page === undefined ? [] : [line.replace(path, page)];
  });
  expect(found).toEqual([]);
  expect(lines.filter((line) => line.startsWith('error TS'))).toEqual([]);
});

test.each(pages)('%s tells only commands that exist', (page) => {
  const own = new Set(['ci', 'install', 'pack', ...Object.keys(scripts)]);
  expect(scriptsOf(textOf(page)).filter((script) => !own.has(script))).toEqual([]);
});

test.each(pages)('%s links only to what exists', (page) => {
  const links = [...textOf(page).matchAll(/\]\((?!https?:|#)([^)\s#]+)/g)].map((match) => match[1] as string);
  expect(links.filter((link) => !exists(posix.join(page, '..', link)))).toEqual([]);
});

test('ARCHITECTURE.md lists the README of every folder, and no other', () => {
  const listed = [...textOf('ARCHITECTURE.md').matchAll(/`((?:src|studio)\/[\w/-]*README\.md)`/g)].map(
    (match) => match[1],
  );
  expect(listed.toSorted()).toEqual(folderPages.toSorted());
});
