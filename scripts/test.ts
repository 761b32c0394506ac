/** The program of `npm test`: runs one step after the other, says which, and names the step that fails. */
import { spawnSync } from 'node:child_process';

/** A step: its name, and the words behind `npm run`, or the command itself. */
const steps: readonly (readonly [name: string, ...command: string[]])[] = [
  ['build', 'npm', 'run', '--silent', 'build'],
  ['check the format', 'npm', 'run', '--silent', 'check:format'],
  ['check the lint', 'npm', 'run', '--silent', 'check:lint'],
  ['check the types', 'npm', 'run', '--silent', 'check:types'],
  ['check for unused code', 'npm', 'run', '--silent', 'check:unused'],
  ['run the tests', 'npm', 'exec', '--no', '--', 'vitest', 'run', ...process.argv.slice(2)],
  ['test the studio in a browser', 'npm', 'run', '--silent', 'test:studio'],
  ['check the package', 'npm', 'run', '--silent', 'check:package'],
];

const began = performance.now();
const seconds = (): string => `${((performance.now() - began) / 1_000).toFixed(0)} s`;

for (const [index, [name, command = '', ...words]] of steps.entries()) {
  const step = `step ${index + 1} of ${steps.length}, ${name}`;
  console.log(`\n== ${step} (${seconds()})`);
  const { status } = spawnSync(command, words, { stdio: 'inherit' });
  if (status === 0) continue;
  console.error(`\nnpm test failed in ${step}: ${[command, ...words].join(' ')}`);
  process.exit(status ?? 1);
}
console.log(`\nnpm test passed in ${seconds()}`);
