/** A what-if on the command line: simulated calls, and a look ahead. */
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { agentConfig, dropFixtures, type Place, refundPlace, writeAgentFiles } from './run.ts';

let place: Place;
beforeEach(async () => {
  place = await refundPlace();
  writeAgentFiles(place);
  place.write('reprise.config.mjs', simulating);
  place.write('answer.json', '{ "refunded": 1 }');
  return () => place[Symbol.dispose]();
});
afterAll(dropFixtures);

/** An agent that refunds 50, which the session never did, and a simulation of it. */
const simulating = `${agentConfig.replace('export default', 'const held =')}
const refunding = async ({ recorder }) => {
  const input = { order: 7, amount: 50 };
  const output = await recorder.call({ kind: 'tool', name: 'refund', effect: 'irreversible', input }, async () => 'really made');
  return JSON.stringify(output);
};
const refund = (input, recorded) => ({ ...recorded.output, simulated: input.amount });
export default { ...held, agents: { ...held.agents, refunding }, simulate: { refund } };
`;

const resume = (name: string, ...more: readonly string[]): readonly string[] => [
  'resume',
  `refund/${name}`,
  '--with',
  'refunding',
  ...more,
];

const errorIn = (stderr: string): { code: string; message: string; hint: string } =>
  (JSON.parse(stderr) as { error: { code: string; message: string; hint: string } }).error;

describe('reprise resume', () => {
  test('simulates with a file or with the configuration, and says so', async () => {
    for (const [name, word, text] of [
      ['file', 'refund=answer.json', '{"refunded":1}'],
      ['config', 'refund', '{"paid":50,"refunded":500,"simulated":50}'],
    ] as const) {
      await place.json('fork', 'refund@2', '--name', name);
      const done = await place.json(...resume(name, '--simulate', word));
      expect(done).toMatchObject({ outcome: 'ok', text, simulated: 1, reused: 0 });
    }
    await place.json('fork', 'refund@2', '--name', 'words');
    const { stdout } = await place.run([...resume('words', '--simulate', 'refund')]);
    expect(stdout).toContain('1 call simulated, and not made');
    expect((await place.run(['show', 'refund/words'])).stdout).toMatch(
      /Simulated calls, which were not made\n {2}@\d+ {2}tool refund/,
    );
    expect((await place.run(['replay', 'refund/words'])).stdout).toMatch(/call\.ended.*refund {2}ok {2}simulated/);
    expect((await place.run(['diff', 'refund', 'refund/words'])).stdout).toContain('simulated');
  });

  test('refuses the call without a simulation or a terminal, and says how to simulate it', async () => {
    await place.json('fork', 'refund@2', '--name', 'again');
    const { code, stderr } = await place.run([...resume('again', '--json')]);
    expect(code).toBe(1);
    expect(errorIn(stderr)).toMatchObject({
      code: 'effect.refused',
      message: expect.stringContaining('the session never made it with these arguments') as string,
      hint: expect.stringContaining('--simulate refund=FILE.json') as string,
    });
    await place.json('fork', 'refund@2', '--name', 'once');
    expect(await place.json(...resume('once', '--effects', 'refund=once'))).toMatchObject({ text: '"really made"' });
  });

  test.each([
    ['=answer.json', 'option.invalid', 'names no tool'],
    ['refund=nowhere.json', 'option.invalid', 'nowhere.json'],
    ['refundd', 'option.invalid', 'does not simulate'],
  ])('refuses --simulate %s before anything is written', async (word, code, words) => {
    await place.json('fork', 'refund@2', '--name', 'again');
    const before = (await place.run(['replay', 'refund/again', '--json', '--raw'])).stdout;
    const refused = await place.run([...resume('again', '--simulate', word, '--json')]);
    expect(refused.code).toBe(2);
    expect(errorIn(refused.stderr)).toMatchObject({ code, message: expect.stringContaining(words) as string });
    expect((await place.run(['replay', 'refund/again', '--json', '--raw'])).stdout).toBe(before);
  });

  test('--dry-run says what would become of each call, and runs nothing', async () => {
    await place.json('fork', 'refund@2', '--name', 'again');
    const before = (await place.run(['replay', 'refund/again', '--json', '--raw'])).stdout;
    const plan = await place.json(...resume('again', '--dry-run'));
    expect(plan['calls']).toMatchObject([{ from: 'recorded', name: 'refund', fate: 'refused' }]);
    const simulated = await place.json(...resume('again', '--dry-run', '--simulate', 'refund'));
    expect(simulated['otherwise']).toMatchObject([
      { name: 'refund', effect: 'irreversible', fate: 'simulated' },
      { name: 'lookup', effect: 'unknown', fate: 'made' },
    ]);
    const { stdout } = await place.run(['resume', 'refund/again', '--dry-run', '--effects', 'refund=run']);
    expect(stdout).toMatch(
      /Calls\n {2}made +refund \{"amount":500,"order":7\} \(irreversible\), if the agent makes it/,
    );
    expect((await place.run(['replay', 'refund/again', '--json', '--raw'])).stdout).toBe(before);
  });
});

test('reprise experiment simulates what the configuration simulates, and stops a row otherwise', async () => {
  place.write('variants.json', '[{ "name": "a", "with": "refunding" }]');
  const words = ['experiment', 'refund@2', '--variants', 'variants.json', '--json=object'];
  const rowOf = (stdout: string): unknown => (JSON.parse(stdout) as { branches: unknown[] }).branches[0];
  const simulated = await place.run(words);
  expect(rowOf(simulated.stdout)).toMatchObject({ outcome: 'ok', simulated: 1, errorCode: null });
  place.write('reprise.config.mjs', simulating.replace(', simulate: { refund }', ''));
  const refused = await place.run(words);
  expect(refused.code).toBe(1);
  expect(rowOf(refused.stdout)).toMatchObject({ outcome: 'error', errorCode: 'effect.refused' });
});
