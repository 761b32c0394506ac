/** An agent of the user's own configuration fails, lingers or has to wait. */
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { dropFixtures, type Place, refundPlace } from './run.ts';

let place: Place;
beforeEach(async () => {
  place = await refundPlace();
  place.write('reprise.config.mjs', config);
  await place.json('fork', 'refund@2', '--name', 'again');
  return () => place[Symbol.dispose]();
});
afterAll(dropFixtures);

const config = `
import { createServer } from 'node:http';
const lingering = async ({ branch }) => {
  await new Promise((resolve) => createServer().listen(0, '127.0.0.1', resolve));
  return 'done on ' + branch;
};
const failing = async ({ branch }) => {
  throw new TypeError('the provider is gone ' + branch);
};
const keyless = () => {
  throw new Error('MODEL_KEY is not set');
};
const deaf = async ({ signal }) => {
  while (!signal.aborted) await new Promise((resolve) => setTimeout(resolve, 5));
  return 'half of it';
};
const tools = {
  framework: 'own',
  resume: async ({ messages }) => JSON.stringify(messages.at(-1)),
  callTool: async () => 'made again',
};
const talking = async ({ recorder, messages }) =>
  recorder.call({ kind: 'model', name: 'small-1', request: { messages } }, async () => 'hello');
const charging = async ({ recorder }) =>
  recorder.call({ kind: 'tool', name: 'charge', effect: 'irreversible', input: {} }, () => 'charged');
export default { agents: { lingering, failing, keyless, deaf, tools, talking, charging } };
`;

describe('an agent of the configuration', () => {
  test('that leaves a server open does not keep the program alive', async () => {
    const { code, stdout } = await place.runAlone(['resume', 'refund/again', '--with', 'lingering']);
    expect(code).toBe(0);
    expect(stdout).toContain('done on again');
  });

  test('that fails is told with the place in its own code, and how to go on with it', async () => {
    const { code, stderr } = await place.run(['resume', 'refund/again', '--with', 'failing']);
    expect(code).toBe(3);
    expect(stderr).toContain('The error was thrown at reprise.config.mjs:8:9');
    expect(stderr).toContain('reprise resume refund/again --with failing');
  });

  test('that cannot be made is its own failure, not one of ours', async () => {
    const { code, stderr } = await place.run(['resume', 'refund/again', '--with', 'keyless']);
    expect(code).toBe(3);
    expect(stderr).toMatch(/^Cannot make agent "keyless" of ".*reprise\.config\.mjs": MODEL_KEY is not set\n/);
  });

  test('that gives something after its time was up was stopped: exit 1', async () => {
    const { code, stdout } = await place.run(['resume', 'refund/again', '--with', 'deaf', '--timeout', '0.1']);
    expect(code).toBe(1);
    expect(stdout).toContain('It was stopped early');
    expect(stdout).toContain('half of it');
  });

  test('whose waiting call is refused before it begins is told the option that allows it', async () => {
    await place.json('fork', 'refund@before:5', '--name', 'waiting');
    const { code, stderr } = await place.run(['resume', 'refund/waiting', '--with', 'tools']);
    expect(code).toBe(1);
    expect(stderr).toContain(
      'allow it with --effects refund=run, use the recorded answer with --effects refund=reuse,',
    );
    expect(stderr).not.toContain('effects: {');
    const never = await place.run(['resume', 'refund/again', '--with', 'charging']);
    expect(never.stderr).toContain('allow it with --effects charge=once, or run this in a terminal');
  });

  test('that may cost nothing makes no model call', async () => {
    const { code, stderr } = await place.run(['resume', 'refund/again', '--with', 'talking', '--budget-cost', '0']);
    expect(code).toBe(1);
    expect(stderr).toContain('Cannot call "small-1": 0 of 0 dollars are used up');
  });
});

test('a file that is not there is told in words', async () => {
  const imported = await place.run(['import', 'nowhere.json']);
  expect(imported).toMatchObject({ code: 2, stderr: 'Cannot import "nowhere.json": no such file\n' });
  const tried = await place.run(['experiment', 'refund@2', '--variants', 'nowhere.json']);
  expect(tried.stderr).toContain('Cannot read "nowhere.json": no such file');
});

test('an experiment whose calls were made before says how they are answered', async () => {
  await place.json('fork', 'refund@before:5', '--name', 'waiting');
  place.write('variants.json', [{ name: 'as-is', with: 'tools' }]);
  const words = ['experiment', 'refund/waiting', '--variants', 'variants.json'];
  const [answered = ''] = (await place.run([...words, '--json'])).stdout.split('\n');
  expect(JSON.parse(answered)).toMatchObject({ reused: 1, simulated: 0, errorCode: null });
  const { stdout, stderr } = await place.run([...words, '--effects', 'refund=refuse']);
  expect(stdout).toContain('as-is-1-2: Cannot call "refund", which is');
  expect(stderr).toContain('--effects reuse to take recorded answers');
});
