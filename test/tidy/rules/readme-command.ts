import { fileAt, type Rule, type Tree } from '../tree.ts';

/** The command that README.md gives for the tests is the one that `.ci/run` runs. */
export const rule: Rule = (tree) => {
  const told = testCommand(tree, 'README.md');
  const run = testCommand(tree, '.ci/run');
  if (told !== undefined && told === run) return [];
  return [{ file: 'README.md', message: `tells "${told}" for the tests, .ci/run does "${run}"` }];
};

/** Returns the line of a file that runs the tests, without its comment. */
export function testCommand(tree: Tree, path: string): string | undefined {
  const lines = fileAt(tree, path)?.text.split('\n') ?? [];
  const commands = lines.map((line) => line.replace(/#.*$/, '').trim()).filter((line) => line.startsWith('npm '));
  return commands.find((line) => /\bnpm test$/.test(line));
}
