import { parse } from 'yaml';
import { fileAt, type Problem, type Rule, type Tree, type TreeFile } from '../tree.ts';
import { testCommand } from './readme-command.ts';

const folder = '.github/workflows/';

interface Step {
  readonly uses?: string;
  readonly run?: string;
}

interface Job {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly steps?: readonly Step[];
}

/**
 * Workflows run the command that README.md gives for the tests and scripts that exist, name the commit of each action,
 * and publish with provenance.
 */
export const rule: Rule = (tree) => {
  const workflows = tree.files.filter(({ path }) => path.startsWith(folder));
  const jobs = workflows.flatMap((file) => jobsOf(file).map((job) => ({ file: file.path, job })));
  const told = testCommand(tree, 'README.md');
  const isTested = jobs.some(({ job }) => job.steps?.some(({ run }) => run !== undefined && run === told) === true);
  return [
    ...(isTested ? [] : [{ file: folder, message: `no workflow runs "${told}", as README.md tells it` }]),
    ...jobs.flatMap(({ file, job }) => [
      ...(job.steps ?? []).flatMap((step) => problemsOf(step, told, tree)).map((message) => ({ file, message })),
      ...unproved(job).map((message): Problem => ({ file, message })),
    ]),
  ];
};

function jobsOf(file: TreeFile): readonly Job[] {
  const { jobs = {} } = parse(file.text) as { readonly jobs?: Readonly<Record<string, Job>> };
  return Object.values(jobs);
}

function problemsOf({ uses, run = '' }: Step, told: string | undefined, tree: Tree): string[] {
  const isPinned = uses === undefined || uses.startsWith('./') || /@[0-9a-f]{40}$/.test(uses);
  const isOther = /\bnpm (test|t|run test)\b(?!:)/.test(run) && run.trim() !== told;
  return [
    ...(isPinned ? [] : [`uses ${uses}, which is not the commit of an action`]),
    ...(isOther ? [`runs "${run.trim()}" for the tests, and README.md tells "${told}"`] : []),
    ...unknownScripts(run, tree).map((name) => `runs the script ${name}, which package.json does not have`),
  ];
}

function unknownScripts(run: string, tree: Tree): string[] {
  const { scripts = {} } = JSON.parse(fileAt(tree, 'package.json')?.text ?? '{}') as { readonly scripts?: object };
  return [...run.matchAll(/\bnpm run ([\w:-]+)/g)].map(([, name = '']) => name).filter((name) => !(name in scripts));
}

/** Returns why npm could not prove where a package comes from, if the job publishes one. */
function unproved({ permissions, steps = [] }: Job): string[] {
  const publishing = steps.filter(({ run }) => /\bnpm publish\b/.test(run ?? ''));
  if (publishing.length === 0) return [];
  const isProved = publishing.every(({ run }) => run?.includes('--provenance'));
  return [
    ...(isProved ? [] : ['publishes without --provenance']),
    ...(permissions?.['id-token'] === 'write' ? [] : ['publishes in a job without the permission id-token: write']),
  ];
}
