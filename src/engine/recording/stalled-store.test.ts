import { describe, expect, test } from 'vitest';
import { openStage, type Stage, stores } from '../../../test/contract/recording-stage.ts';
import { RepriseError } from '../../core/error.ts';
import { limits } from '../../core/limits.ts';
import type { ResumeContext } from '../../core/recording/agent.ts';
import type { AppendOutcome } from '../../core/store/event-store.ts';

/** A store that a different process holds: each append waits until the test lets the wait end, and takes nothing. */
async function heldStage(kind: string): Promise<Stage & { readonly held: HeldStore }> {
  const held = new HeldStore();
  const stage = await openStage(kind, { fault: () => held.answer() });
  return Object.assign(stage, { held });
}

class HeldStore {
  isHeld = false;
  /** How many waits ended in vain. */
  waits = 0;
  #ends: (() => void)[] = [];

  answer(): Promise<readonly AppendOutcome[]> | undefined {
    if (!this.isHeld) return undefined;
    return new Promise((resolve) => {
      this.#ends.push(() => {
        this.waits++;
        const error = new RepriseError('store.busy', 'Cannot append: a different process holds the file');
        resolve([{ ok: false, error }]);
      });
    });
  }

  /** Ends the wait under way, when there is one. */
  async endWait(): Promise<void> {
    while (this.#ends.length === 0) await new Promise((resolve) => setImmediate(resolve));
    this.#ends.shift()?.();
  }
}

describe.each(Object.keys(stores))('a recorder on %s, whose store a different process holds', (kind) => {
  test('a run waits for the store once, however many tools it calls, and all is stored when the store is free', async () => {
    await using stage = await heldStage(kind);
    const { held } = stage;
    const recorder = await stage.session.record({ facts: false });
    held.isHeld = true;
    const running = recorder.run({}, async () => {
      for (const name of ['pay', 'mail', 'ship']) await recorder.call({ kind: 'tool', name }, () => name);
      return 'done';
    });
    await held.endWait();
    expect(await running).toBe('done');
    expect(held.waits).toBe(1);
    held.isHeld = false;
    await held.endWait();
    const { stored, failed, errors } = await recorder.close();
    expect([stored, failed, errors.map((error) => (error as RepriseError).code)]).toEqual([8, 0, ['store.busy']]);
    expect((await stage.events()).map(({ type }) => type).filter((type) => type.startsWith('run'))).toEqual([
      'run.started',
      'run.ended',
    ]);
  });

  test('the next run does not wait at all while the store is held, and waits again when it is free', async () => {
    await using stage = await heldStage(kind);
    const { held } = stage;
    const recorder = await stage.session.record({ facts: false });
    held.isHeld = true;
    const first = recorder.run({}, () => recorder.call({ kind: 'tool', name: 'pay' }, () => 1));
    await held.endWait();
    await first;
    expect(await recorder.run({}, () => recorder.call({ kind: 'tool', name: 'pay' }, () => 2))).toBe(2);
    expect(held.waits).toBe(1);
    held.isHeld = false;
    await held.endWait();
    await recorder.flush();
    const seen = await recorder.call({ kind: 'tool', name: 'look' }, async () => (await stage.events()).at(-1)?.type);
    expect(seen).toBe('call.started');
  });

  test('I9 closing gives a held store up after recordAttemptsMax waits, with everything that is queued', async () => {
    await using stage = await heldStage(kind);
    const { held } = stage;
    const recorder = await stage.session.record({ facts: false });
    held.isHeld = true;
    const running = recorder.run({}, () => recorder.call({ kind: 'tool', name: 'pay' }, () => 1));
    await held.endWait();
    await running;
    const closing = recorder.close();
    for (let count = 1; count < limits.recordAttemptsMax; count++) await held.endWait();
    const { stored, failed } = await closing;
    expect([stored, failed, held.waits]).toEqual([0, 4, limits.recordAttemptsMax]);
    held.isHeld = false;
  });

  test('with onFailure "fail" a call whose start could not be stored is refused; pure calls are made', async () => {
    await using stage = await heldStage(kind);
    const { held } = stage;
    const recorder = await stage.session.record({ facts: false, onFailure: 'fail' });
    held.isHeld = true;
    const made: string[] = [];
    const call = (name: string, effect?: 'irreversible' | 'pure') =>
      recorder.call({ kind: 'tool', name, ...(effect === undefined ? {} : { effect }) }, () => void made.push(name));
    const paying = call('pay', 'irreversible').catch((error: unknown) => error);
    await held.endWait();
    expect(await paying).toMatchObject({ code: 'recording.failed', message: expect.stringContaining('"pay"') });
    await expect(call('mail')).rejects.toMatchObject({ code: 'recording.failed' });
    await call('look', 'pure');
    expect(made).toEqual(['look']);
    held.isHeld = false;
    await held.endWait();
    await recorder.close();
    // Nothing is in doubt: both calls that were refused have an end.
    const ends = (await stage.events()).filter(({ type }) => type === 'call.ended');
    expect(ends.map(({ data }) => data['outcome'])).toEqual(['aborted', 'aborted', 'ok']);
  });

  test('a live agent goes on by default: the call is made, and the report says why its start was not stored', async () => {
    await using stage = await heldStage(kind);
    const { held } = stage;
    const recorder = await stage.session.record({ facts: false });
    held.isHeld = true;
    const paying = recorder.call({ kind: 'tool', name: 'pay', effect: 'irreversible' }, () => 'paid');
    await held.endWait();
    expect(await paying).toBe('paid');
    held.isHeld = false;
    await held.endWait();
    const { errors, failed } = await recorder.close();
    expect([errors.length, failed]).toEqual([1, 0]);
  });

  test('resume refuses a call whose start could not be stored and stops; the next resume makes it once', async () => {
    await using stage = await heldStage(kind);
    const { held, session } = stage;
    await session.append({ type: 'message.added', data: { message: { role: 'user', content: 'Pay order 8.' } } });
    const paid: number[] = [];
    const agent = async ({ recorder }: ResumeContext): Promise<string> => {
      const pay = { kind: 'tool', name: 'pay', input: { order: 8 } } as const;
      // A framework reports a refused call to the model, which asks for it again.
      await recorder.call(pay, () => void paid.push(8)).catch(() => recorder.call(pay, () => void paid.push(8)));
      return 'Paid.';
    };
    const branch = session.branch('main');
    held.isHeld = true;
    const first = branch.resume(agent).catch((error: unknown) => error);
    await held.endWait();
    held.isHeld = false;
    expect(await first).toMatchObject({ code: 'recording.failed', message: expect.stringContaining('"pay"') });
    expect(paid).toEqual([]);
    const fork = await session.fork('main@1');
    // The record shows the call as aborted, so the next resume asks unless the policy decides.
    await expect(fork.resume(agent)).rejects.toMatchObject({ code: 'effect.refused' });
    expect((await fork.resume(agent, { effects: 'run' })).text).toBe('Paid.');
    expect(paid).toEqual([8]);
  });
});
