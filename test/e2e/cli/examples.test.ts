/** Every command that the help and the documents show does what it says: none is wrong usage, and none finds nothing. */
import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { shapes } from '../../../scripts/cli-shapes.ts';
import { commands } from '../../../src/cli/commands.ts';
import { blocksOf } from '../../docs/pages.ts';
import { root } from '../../docs/workshop.ts';
import { defaultUrl, demoPlace, dropFixtures, type Place, refundPlace, writeAgentFiles } from './run.ts';
import type { Ran } from './warm-process.ts';

afterAll(dropFixtures);

/** The words of a line that needs no shell to be understood; undefined for one that does. */
function wordsOf(line: string): string[] | undefined {
  const words = [...line.matchAll(/(?:"[^"$`\\!]*"|'[^']*'|[^\s"'$`\\|&;<>(){}*?~#!])+/g)].map(([word]) => word);
  return words[0] === 'reprise' && words.join(' ') === line && !line.includes('--follow')
    ? words.slice(1).map((word) => word.replaceAll(/"([^"]*)"|'([^']*)'/g, '$1$2'))
    : undefined;
}

/** A shell in a place where `reprise` is a command, and home has what a person's home has. */
async function shellPlace(): Promise<{ readonly place: Place; readonly type: (line: string) => Promise<Ran> }> {
  const place = await demoPlace();
  for (const folder of ['bin', '.local/share/bash-completion/completions', '.zfunc', '.config/fish/completions'])
    mkdirSync(join(place.folder, folder), { recursive: true });
  place.write('bin/reprise', `#!/bin/sh\nexec "${process.execPath}" "${join(root, 'src/cli/bin.ts')}" "$@"\n`);
  chmodSync(join(place.folder, 'bin/reprise'), 0o755);
  const env = {
    HOME: place.folder,
    EDITOR: `sed -i 's/uestion/UESTION/'`,
    PATH: `${join(place.folder, 'bin')}:${process.env['PATH'] ?? ''}`,
  };
  const inShell = (line: string): Promise<Ran> =>
    new Promise((resolve) => {
      const options = { cwd: place.folder, env: place.env(env) };
      const child = execFile('/bin/sh', ['-c', line], options, (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : (error.code as unknown as number), stdout, stderr });
      });
      child.stdin?.end();
    });
  const type = (line: string): Promise<Ran> => {
    const words = wordsOf(line);
    return words === undefined ? inShell(line) : place.run(words, { env });
  };
  return { place, type };
}

/** Types lines one after the other, and tells those that did not do what they are there for. */
async function mistakes(lines: readonly string[]): Promise<string[]> {
  const { place, type } = await shellPlace();
  using _ = place;
  const found: string[] = [];
  for (const line of lines) {
    const { code, stderr } = await type(line.includes('--follow') ? `timeout 1 ${line}` : line);
    const isAsked = stderr.includes('Add --yes to confirm.');
    const isKilled = line.includes('--follow') && code === 124;
    const isRight = code === 0 || (code === 1 && !stderr.startsWith('Cannot')) || isAsked || isKilled;
    if (!isRight) found.push(`${line} → ${String(code)}: ${stderr}`);
  }
  return found;
}

describe('the examples of the help', async () => {
  const specs = await Promise.all(commands.map(async (entry) => [entry.name, await entry.load()] as const));

  test.each(specs)('%s', async (name, spec) => {
    expect(spec.examples?.length).toBeGreaterThan(0);
    // A server runs until it is stopped; test/server/command.test.ts starts it.
    if (name === 'serve' || name === 'studio') return;
    // A redo needs something to undo.
    const before = name === 'redo' ? ['reprise rewind demo@12', 'reprise rewind demo/careful@12'] : [];
    expect(await mistakes([...before, ...(spec.examples ?? [])])).toEqual([]);
  });
});

describe('the commands of the documents', () => {
  const pages = [
    'README.md',
    'docs/guides/command-line.md',
    'docs/guides/configure.md',
    'docs/guides/bundles.md',
    'docs/coming-from/bernstein.md',
  ];

  test.each(pages)('%s', async (page) => {
    const lines = blocksOf(readFileSync(join(root, page), 'utf8'))
      .filter((block) => block.kind === 'sh')
      .flatMap((block) => block.lines)
      .filter((line) => /\breprise [a-z]/.test(line) && !line.startsWith('np'));
    expect(lines.length).toBeGreaterThan(0);
    expect(await mistakes(lines)).toEqual([]);
  });
});

describe('the shapes of the reference are what is printed', () => {
  const runs: Readonly<Record<string, readonly string[]>> = {
    list: ['list', '--limit', '1'],
    tree: ['tree', 'refund'],
    resume: ['resume', 'refund/careful'],
    retry: ['retry', 'refund'],
    experiment: ['experiment', 'refund@2', '--variants', 'variants.json'],
    import: ['import', 'run-abc.json'],
    export: ['export', 'refund', '--format', 'shipit'],
    config: ['config'],
    token: ['token', 'create'],
    copy: ['copy', 'sqlite:.reprise/reprise.db', 'sqlite:copy.db'],
    demo: ['demo'],
    replay: ['replay', 'refund', '--limit', '1'],
    show: ['show', 'refund@4'],
    fold: ['fold', 'refund'],
    projections: ['projections'],
    get: ['get', 'refund', 'plan'],
    set: ['set', 'refund', 'plan', '2'],
    delete: ['delete', 'refund', 'plan'],
    keys: ['keys', 'refund'],
    scan: ['scan', 'refund'],
    history: ['history', 'refund', 'plan'],
    beliefs: ['beliefs', 'refund'],
    agents: ['agents', 'refund'],
    tasks: ['tasks', 'refund'],
    audit: ['audit', 'refund'],
    forward: ['forward', 'refund', '--until', '9', '--with', 'demo'],
    diff: ['diff', 'refund', 'refund/careful'],
    counterfactual: ['counterfactual', 'refund', '--exclude', '5'],
    fingerprint: ['fingerprint', 'refund'],
    verify: ['verify', 'refund'],
    prove: ['prove', 'refund@2'],
    key: ['key', 'list'],
    fork: ['fork', 'refund@4'],
    edit: ['edit', 'refund', '--drop', '5'],
    rewind: ['rewind', 'refund@4'],
    revert: ['revert', 'refund@5'],
    redo: ['redo', 'refund/careful'],
    erase: ['erase', 'refund@2', '--dry-run'],
    'delete-session': ['delete-session', 'refund', '--yes'],
    branch: ['branch', 'archive', 'refund/careful'],
    du: ['du'],
    doctor: ['doctor'],
    repair: ['repair'],
    completion: ['completion', 'bash'],
    coding: ['coding', 'status', 'refund'],
    exec: ['exec', '--session', 'refund', '--json', '--', 'true'],
  };

  const ending = Object.entries(shapes).filter(([name]) => name !== 'serve' && name !== 'studio');

  test.each(ending)('%s', async (name, { keys, optional }) => {
    using place = await refundPlace();
    writeAgentFiles(place);
    if (name === 'redo') await place.json('rewind', 'refund/careful@4');
    if (['keys', 'scan', 'history', 'delete'].includes(name)) await place.json('set', 'refund', 'plan', '1');
    if (['beliefs', 'agents', 'tasks', 'audit', 'forward'].includes(name)) {
      await using reprise = await place.open();
      const session = await reprise.session('refund');
      await session.spawn('triage', {});
      await session.fleet.task.start({ task: 't1' });
      await session.beliefs.commit({ agent: 'triage', topic: 'order', kind: 'fact', claim: 'It is broken' });
    }
    const { stdout, stderr } = await place.run([
      ...(runs[name] ?? []).map((word) => (word === defaultUrl ? place.url : word)),
      '--json',
    ]);
    const printed = Object.keys(JSON.parse((name === 'exec' ? stderr : stdout).split('\n')[0] ?? '') as object);
    expect(keys.filter((key) => !printed.includes(key) && !optional.includes(key))).toEqual([]);
    expect(printed.filter((key) => !keys.includes(key))).toEqual([]);
  });

  test('every command has one', () => {
    expect(Object.keys(shapes).sort()).toEqual(commands.map(({ name }) => name).sort());
  });
});
