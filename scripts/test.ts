/**
 * The program of `npm test`, and with `--all` that of `npm run test:all`: runs one step after the other, says which, and
 * names the step that fails.
 */
import { spawnSync } from 'node:child_process';

const isAll = process.argv[2] === '--all';
const script = isAll ? 'npm run test:all' : 'npm test';
const words = process.argv.slice(isAll ? 3 : 2);

/** A step: its name, and the words behind `npm run`, or the command itself. */
const steps: readonly (readonly [name: string, ...command: string[]])[] = [
  ['build', 'npm', 'run', '--silent', 'build'],
  ['check the format', 'npm', 'run', '--silent', 'check:format'],
  ['check the lint', 'npm', 'run', '--silent', 'check:lint'],
  ['check the types', 'npm', 'run', '--silent', 'check:types'],
  ['check for unused code', 'npm', 'run', '--silent', 'check:unused'],
  ['run the tests', 'npm', 'exec', '--no', '--', 'vitest', 'run', ...words],
  ['test the studio in a browser', 'npm', 'run', '--silent', 'test:studio'],
  ['check the package', 'npm', 'run', '--silent', 'check:package'],
];

const env = isAll ? { ...process.env, REPRISE_TESTS: 'all' } : process.env;
const began = performance.now();
const seconds = (): string => `${((performance.now() - began) / 1_000).toFixed(0)} s`;

for (const [index, [name, command = '', ...rest]] of steps.entries()) {
  const step = `step ${index + 1} of ${steps.length}, ${name}`;
  console.log(`\n== ${step} (${seconds()})`);
  // On Windows npm is a script, which only a shell finds.
  const { status } = spawnSync(command, rest, { stdio: 'inherit', env, shell: process.platform === 'win32' });
  if (status === 0) continue;
  console.error(`\n${script} failed in ${step}: ${[command, ...rest].join(' ')}`);
  process.exit(status ?? 1);
}
console.log(`\n${script} passed in ${seconds()}`);
