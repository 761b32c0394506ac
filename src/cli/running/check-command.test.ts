import { describe, expect, test } from 'vitest';
import type { CheckedBranch } from '../../engine/experimenting/experiment-result.ts';
import { commandCheck } from './check-command.ts';

const place = { store: 'sqlite:/tmp/x.db', namespace: 'default' };
const branch: CheckedBranch = {
  session: 'demo',
  branch: 'brief-1',
  ref: 'demo/brief-1',
  variant: 'brief',
  repeat: 1,
  outcome: 'ok',
  text: 'It is the pool.',
  result: undefined,
};

describe('commandCheck()', () => {
  test('only exit code 0 is a pass; the result is on standard input', async () => {
    expect(await commandCheck('grep -q pool', place)(branch)).toBe(true);
    expect(await commandCheck('grep -q cache', place)(branch)).toBe(false);
    expect(await commandCheck('exit 3', place)(branch)).toBe(false);
  });

  test('an object on standard output gives scores, and a command that fails has not passed', async () => {
    expect(await commandCheck(`echo '{"brief": 0.5}'`, place)(branch)).toEqual({ brief: 0.5 });
    expect(await commandCheck(`echo '{"brief": 0.5}'; exit 1`, place)(branch)).toEqual({
      passed: false,
      scores: { brief: 0.5 },
    });
    const said = `echo '{"passed": false, "reason": "long", "scores": {"brief": 0}}'`;
    expect(await commandCheck(said, place)(branch)).toEqual({ passed: false, reason: 'long', scores: { brief: 0 } });
    expect(await commandCheck('echo 50', place)(branch)).toBe(true);
    expect(await commandCheck('echo "{not json"', place)(branch)).toBe(true);
  });

  test('the command finds the branch and its store in the environment', async () => {
    const words = ['$REPRISE_STORE', '$REPRISE_REF', '$REPRISE_VARIANT', '$REPRISE_REPEAT', '$REPRISE_OUTCOME'];
    const line = `test "${words.join(' ')}" = "sqlite:/tmp/x.db demo/brief-1 brief 1 ok"`;
    expect(await commandCheck(line, place)(branch)).toBe(true);
  });

  test('a command that is not there is a mistake, not a failed check', async () => {
    await expect(commandCheck('no-such-program-here', place)(branch)).rejects.toMatchObject({
      code: 'experiment.invalid',
      message: expect.stringContaining('no-such-program-here') as string,
    });
  });

  test('a command that takes longer than checkMsMax is ended, and has failed', async () => {
    // Nobody waits for its own end.
    expect(await commandCheck('exec sleep 3600', { ...place, msMax: 100 })(branch)).toBe(false);
  });
});
