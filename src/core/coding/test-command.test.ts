import { expect, test } from 'vitest';
import { frameworkIn, readTestCommand, runsTests } from './test-command.ts';

const selectionOf = (command: string): unknown => readTestCommand(command, frameworkIn(command)).selection;

test.each([
  ['pytest', 'all'],
  ['pytest .', 'all'],
  ['pytest -q --tb short -p no:cacheprovider -rA', 'all'],
  ['pytest --cov tests/a', 'all'],
  ['python -m pytest tests/a', ['tests/a']],
  ['PYTHONPATH=. timeout 60 uv run pytest -xvs "tests/a" ./tests/b', ['tests/a', 'tests/b']],
  ['pytest tests/a 2>&1', ['tests/a']],
  ['pytest tests/pytest', ['tests/pytest']],
  ['npx vitest run src/node', ['src/node']],
  ['node node_modules/vitest/vitest.mjs run --reporter json', 'all'],
  ['node --import ./hook.js --test a.test.js', ['a.test.js']],
])('%s asks for %j', (command, places) => {
  expect(selectionOf(command)).toEqual(places);
});

test.each([
  'pytest -kname',
  'pytest -vk name',
  'pytest -mslow',
  'pytest --ignore=tests/a',
  'pytest -c other.ini',
  'pytest --lf',
  'pytest a && pytest b',
  'cd tests/a && pytest',
  '(cd tests/a && pytest)',
  'npm --prefix packages/a exec vitest',
  'npx vitest run --shard=1/2',
  'npx vitest run --dir=tests/a',
  'npx vitest run --project unit',
  'npx vitest run --config unit.config.ts',
  'npx vitest --test-name-pattern=x',
  'npx jest --testPathPattern=b',
  'npx jest --changedSince main',
  'node --test --test-shard=1/2',
  'npm test',
  'make check',
])('%s does not say which tests it asks for', (command) => {
  expect(selectionOf(command)).toBeUndefined();
});

test('a command may stop at a failure, run no test, or hide the exit code of its tests', () => {
  const read = (command: string): string => {
    const said = readTestCommand(command, frameworkIn(command));
    return Object.entries(said)
      .filter(([, value]) => value === true)
      .map(([name]) => name)
      .join(' ');
  };
  const stops = [
    'pytest -xvs',
    'pytest -vx',
    'pytest --maxfail=2',
    'pytest --sw',
    'npx jest -b',
    'npx vitest --bail 1',
  ];
  for (const command of [...stops, 'go test -failfast', 'make check -x', 'pytest a && pytest b'])
    expect(read(command), command).toBe('mayStop');
  for (const command of ['pytest -rx', 'pytest --no-header', 'pytest a && echo done 2>&1'])
    expect(read(command), command).toBe('');
  for (const command of ['pytest --collect-only', 'pytest --co -q', 'pytest --version', 'npx jest --listTests'])
    expect(read(command), command).toBe('runsNone');
  for (const command of ['pytest | tail', 'pytest; true', 'pytest || true', '! pytest', 'pytest & wait'])
    expect(read(command), command).toBe('hidesExitCode');
  expect(read('npx jest --passWithNoTests')).toBe('allowsNone');
});

test('a framework is the program that runs, and not a word that is only mentioned', () => {
  for (const command of [
    'pip install pytest',
    'npm install vitest',
    'grep -r jest src',
    'which pytest',
    'echo node --test',
  ])
    expect(frameworkIn(command), command).toBeUndefined();
  expect(frameworkIn('cd app && NODE_ENV=test node --test')).toBe('node');
  expect(frameworkIn('go test -json ./...')).toBe('go');
  expect(frameworkIn('poetry run pytest tests | tail -5')).toBe('pytest');
});

test('a command runs tests by its framework, or by a task that is named so', () => {
  for (const command of [
    'npm test',
    'npm run test:unit',
    'yarn test --silent',
    'make check',
    'cargo test',
    './test.sh',
  ])
    expect(runsTests(command), command).toBe(true);
  for (const command of [
    'rm -rf tests',
    'git checkout tests',
    'ls test',
    'npm install',
    'pip install pytest',
    'cat check',
  ])
    expect(runsTests(command), command).toBe(false);
});
