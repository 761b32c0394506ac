import { describe, expect, test } from 'vitest';
import type { AppendFault } from '../../../test/contract/faulty-store.ts';
import { openStage, stores } from '../../../test/contract/recording-stage.ts';
import { RepriseError } from '../../core/error.ts';
import type { Event, EventDraft } from '../../core/event/event.ts';
import { limits } from '../../core/limits.ts';
import type { Recorder } from '../../core/recording/recorder.ts';
import type { AppendOutcome, AppendRequest } from '../../core/store/event-store.ts';

const note = (text: string, more: Partial<EventDraft> = {}): EventDraft => ({
  type: 'note.added',
  data: { text },
  ...more,
});
const texts = (events: readonly Event[]): unknown[] => events.map((event) => event.data['text']);
const noFacts = { facts: false } as const;
const failing: AppendFault = async () => {
  throw new Error('the disk is gone');
};
const busy = (): Promise<readonly AppendOutcome[]> =>
  Promise.resolve([{ ok: false, error: new RepriseError('store.busy', 'Cannot append: the store is busy') }]);

/** A little agent, which must not notice what becomes of its record. */
async function agent(recorder: Recorder): Promise<string> {
  return recorder.run({ title: 'x' }, async () => {
    recorder.message({ role: 'user', content: 'Go.' });
    await recorder.turn({}, () => recorder.task({ task: 't' }, () => 1));
    const call = await recorder.startCall({ kind: 'tool', name: 'refund' });
    call.end({ output: 1 });
    return recorder.call({ kind: 'tool', name: 'look', effect: 'pure' }, async () => 'found');
  });
}

describe.each(Object.keys(stores))('a recorder on %s, when something fails', (kind) => {
  test('an agent does not notice a store that takes nothing; it is counted, told a few times, and reported', async () => {
    const told: Error[] = [];
    await using stage = await openStage(kind, { fault: failing });
    const recorder = await stage.session.record({ ...noFacts, onError: (error) => told.push(error) });
    expect(await agent(recorder)).toBe('found');
    for (let count = 0; count < 50; count++) {
      recorder.event(note(`${count}`));
      await recorder.flush();
    }
    const { stored, failed, errors } = await recorder.close();
    expect([stored, failed]).toEqual([0, 61]);
    expect(told).toEqual(errors);
    expect(errors.length).toBe(limits.recordErrorsMax);
    expect(errors[0]?.message).toBe('the disk is gone');
  });

  test('an onError that throws is not noticed either', async () => {
    await using stage = await openStage(kind, { fault: failing });
    const recorder = await stage.session.record({
      ...noFacts,
      onError: () => {
        throw new Error('and the log too');
      },
    });
    expect(await agent(recorder)).toBe('found');
  });

  test('with onFailure "fail" a run is rejected after its body, with the own error of the body first', async () => {
    await using stage = await openStage(kind, { fault: failing });
    const recorder = await stage.session.record({ ...noFacts, onFailure: 'fail' });
    let hasFinished = false;
    const failed = await recorder
      .run({}, async () => {
        await recorder.run({}, () => 1);
        hasFinished = true;
      })
      .catch((error: unknown) => error);
    expect(hasFinished).toBe(true);
    expect(failed).toMatchObject({ code: 'recording.failed', details: { failed: 4 } });
    const own = new Error('the body itself');
    const both = await recorder.run({}, () => Promise.reject(own)).catch((error: unknown) => error);
    expect(both).toMatchObject({ code: 'recording.failed', details: { failed: 2 } });
    expect(((both as Error).cause as AggregateError).errors[0]).toBe(own);
  });

  test('with onFailure "fail" a run that was recorded is not failed by what failed before it', async () => {
    let isBroken = true;
    await using stage = await openStage(kind, {
      fault: (requests, next) => (isBroken ? failing(requests, next) : undefined),
    });
    const recorder = await stage.session.record({ ...noFacts, onFailure: 'fail' });
    recorder.event(note('lost'));
    await recorder.flush();
    isBroken = false;
    expect(await recorder.run({}, () => 1)).toBe(1);
  });

  test('a store that is busy for a moment is asked again, and nothing is doubled when only its answer was lost', async () => {
    let count = 0;
    await using stage = await openStage(kind, {
      fault: (_, next) => {
        count++;
        if (count % 3 === 1) return busy();
        if (count % 3 === 2) return next().then(() => Promise.reject(new Error('the answer was lost')));
        return undefined;
      },
    });
    const recorder = await stage.session.record(noFacts);
    for (const text of 'abc') {
      recorder.event(note(text));
      await recorder.flush();
    }
    await recorder.run({}, () => 1);
    const { stored, failed } = await recorder.close();
    expect([stored, failed]).toEqual([5, 0]);
    const events = await stage.events();
    expect(texts(events).slice(0, 3)).toEqual(['a', 'b', 'c']);
    expect(events).toHaveLength(5);
    expect(events[4]?.data['fingerprint']).toBe(await stage.session.at('main@4').fingerprint());
  });

  test('I9 a store that stays busy is asked recordAttemptsMax times', async () => {
    let count = 0;
    await using stage = await openStage(kind, {
      fault: () => {
        count++;
        return busy();
      },
    });
    const recorder = await stage.session.record(noFacts);
    recorder.event(note('a'));
    expect((await recorder.close()).failed).toBe(1);
    expect(count).toBe(limits.recordAttemptsMax);
  });

  test('an end of a run that others came before is given the fingerprint of what precedes it now', async () => {
    let intruders = 1;
    const ends = (request: AppendRequest | undefined): boolean => request?.events[0]?.type === 'run.ended';
    await using stage = await openStage(kind, {
      fault: ([request], next) => {
        if (!ends(request) || intruders-- <= 0) return undefined;
        return stage.session.append(note('came first')).then(next);
      },
    });
    const recorder = await stage.session.record(noFacts);
    await recorder.run({}, () => 1);
    const events = await stage.events();
    expect(events.map((event) => event.type)).toEqual(['run.started', 'note.added', 'run.ended']);
    expect(events[2]?.data['fingerprint']).toBe(await stage.session.at('main@2').fingerprint());
    intruders = Number.POSITIVE_INFINITY;
    await recorder.run({}, () => 1);
    const { failed, errors } = await recorder.close();
    expect([failed, errors.map((error) => (error as RepriseError).code)]).toEqual([0, ['append.conflict']]);
    const last = (await stage.events()).at(-1);
    expect([last?.type, last?.data]).toEqual(['run.ended', { outcome: 'ok', result: 1 }]);
  });

  test('one event that is refused does not take the others with it, and what it caused still has its cause', async () => {
    await using stage = await openStage(kind);
    const recorder = await stage.session.record(noFacts);
    await recorder.call(
      { kind: 'tool', name: 'read', call: 'c', effect: 'pure', input: 'x'.repeat(limits.payloadBytesMax) },
      () => {
        recorder.event(note('inside'));
      },
    );
    recorder.event({ type: 'Not A Type' });
    recorder.event({ type: 'branch.rewound', data: { to: 0 } });
    recorder.event(note('odd cause', { cause: 'nobody' }));
    recorder.message({ role: 'user', content: 'y'.repeat(limits.payloadBytesMax) });
    recorder.event(undefined as never);
    recorder.message(undefined as never);
    const { failed, stored } = await recorder.close();
    expect([failed, stored]).toEqual([7, 5]);
    const events = await stage.events();
    expect(events.map((event) => [event.type, event.causeSeq])).toEqual([
      ['call.started', undefined],
      ['note.added', 1],
      ['call.ended', 1],
      ['note.added', undefined],
      ['message.added', undefined],
    ]);
    expect(events[0]?.data).toEqual({
      call: 'c',
      kind: 'tool',
      name: 'read',
      effect: 'pure',
      notRecorded: expect.stringMatching(/too large .*payloadBytesMax/),
    });
    expect(events[4]?.data['message']).toMatchObject({ role: 'user', content: expect.stringContaining('too large') });
    expect((await stage.session.verify()).ok).toBe(true);
  });

  test('what is no JSON is recorded as what it was', async () => {
    await using stage = await openStage(kind);
    const recorder = await stage.session.record(noFacts);
    const circle: Record<string, unknown> = { when: new Date(0), made: () => 1, big: 10n, left: undefined };
    circle['self'] = circle;
    const output = await recorder.call(
      { kind: 'tool', name: 'odd', effect: 'pure', input: circle as never },
      () => circle,
    );
    expect(output).toBe(circle);
    expect((await recorder.close()).failed).toBe(0);
    const expected = { when: '1970-01-01T00:00:00.000Z', made: '[function made]', big: '10', self: '[circular]' };
    const [started, ended] = await stage.events();
    expect(started?.data['input']).toEqual(expected);
    expect(ended?.data['output']).toEqual(expected);
  });

  test('what is masked is masked before it is stored, in what the machine knows of itself too', async () => {
    const mask = (event: EventDraft): EventDraft => ({
      ...event,
      data: { ...(JSON.parse(JSON.stringify(event.data).replaceAll('s3cret', '***')) as object), masked: ['word'] },
    });
    await using stage = await openStage(kind, {
      platform: { runFacts: async () => ({ program: { command: 'node', arguments: ['--key', 's3cret'] } }) },
    });
    const recorder = await stage.session.record({ mask });
    await recorder
      .run({ title: 's3cret' }, () => {
        recorder.event(note('it is s3cret'));
        throw new Error('s3cret');
      })
      .catch(() => undefined);
    await recorder.close();
    const text = JSON.stringify(await stage.events());
    expect(text).not.toContain('s3cret');
    expect(text).toContain('--key');
    expect(text).toContain('"masked":["word"]');
  });

  test('what cannot be masked is not stored: a note stands in for it, and it is counted', async () => {
    const mask = (): never => {
      throw new Error('the masker broke');
    };
    await using stage = await openStage(kind);
    const recorder = await stage.session.record({ ...noFacts, mask });
    await recorder.run({ title: 's3cret' }, async () => {
      recorder.message({ role: 'user', content: 's3cret' });
      await recorder.call({ kind: 'http', name: 'https://x/?key=s3cret', input: 's3cret', call: 'c' }, () => 's3cret');
      recorder.event(note('s3cret'));
      recorder.event({ type: 'custom.thing', data: { s3cret: 1 } });
    });
    const { failed, stored, errors } = await recorder.close();
    expect([failed, stored, errors[0]?.message]).toEqual([7, 7, 'the masker broke']);
    const events = await stage.events();
    expect(JSON.stringify(events)).not.toContain('s3cret');
    expect(events[2]?.data).toMatchObject({ call: 'c', kind: 'http', notRecorded: expect.stringContaining('masked') });
  });

  test('guards and prices that throw are counted as errors, and nothing is lost', async () => {
    const breaks = (): never => {
      throw new Error('broken');
    };
    await using stage = await openStage(kind);
    const recorder = await stage.session.record({
      ...noFacts,
      guards: [{ ended: breaks }],
      prices: { costOf: breaks },
    });
    await recorder.call(
      { kind: 'model', name: 'm' },
      () => 1,
      () => ({ usage: {} }),
    );
    await recorder.call({ kind: 'model', name: 'm' }, () => 1, breaks);
    const { failed, stored, errors } = await recorder.close();
    expect([failed, stored, errors.length]).toEqual([0, 4, 4]);
  });

  test('I9 telling waits for room where it can, and is refused where it cannot (recordQueueEventsMax)', async () => {
    let open = (): void => undefined;
    const opened = new Promise<void>((resolve) => (open = resolve));
    await using stage = await openStage(kind, { fault: (_, next) => opened.then(next) });
    const recorder = await stage.session.record(noFacts);
    const call = await recorder.startCall({ kind: 'tool', name: 'look', effect: 'pure' });
    for (let count = 1; count < limits.recordQueueEventsMax + 5; count++) recorder.event(note(`${count}`));
    let hasRun = false;
    const waits = recorder.call({ kind: 'tool', name: 'waits', effect: 'pure' }, () => (hasRun = true));
    call.end();
    const lost = recorder.startRun({});
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(hasRun).toBe(false);
    open();
    await waits;
    lost.within(() => recorder.event(note('caused by what was not let in')));
    const { failed, stored, errors } = await recorder.close();
    expect([failed, stored]).toEqual([6, limits.recordQueueEventsMax + 4]);
    expect(errors[0]).toMatchObject({ code: 'limit.exceeded', details: { limit: 'recordQueueEventsMax' } });
  });

  // Hundreds of megabytes: a disk that is busy takes its time.
  test('I9 what waits to be stored is limited in bytes as well (recordQueueBytesMax)', {
    timeout: 120_000,
  }, async () => {
    let open = (): void => undefined;
    const opened = new Promise<void>((resolve) => (open = resolve));
    await using stage = await openStage(kind, { fault: (_, next) => opened.then(next) });
    const recorder = await stage.session.record(noFacts);
    const big = 'x'.repeat(limits.payloadBytesMax - 100);
    const fits = limits.recordQueueBytesMax / limits.payloadBytesMax;
    for (let count = 0; count < fits + 3; count++) recorder.event(note(big));
    open();
    const { failed, errors } = await recorder.close();
    expect(failed).toBeGreaterThanOrEqual(1);
    expect(errors[0]).toMatchObject({ code: 'limit.exceeded', details: { limit: 'recordQueueBytesMax' } });
  });

  test('after close() nothing is recorded, and the agent still runs', async () => {
    await using stage = await openStage(kind);
    const recorder = await stage.session.record(noFacts);
    await recorder.close();
    expect(await agent(recorder)).toBe('found');
    const { failed, stored, errors } = await recorder.flush();
    expect([stored, failed]).toEqual([0, 11]);
    expect(errors[0]).toMatchObject({ code: 'recording.failed', message: expect.stringContaining('closed') });
  });

  test('a branch that is rewound in the middle of a run is left, with calls still open; nothing is lost or doubled', async () => {
    await using stage = await openStage(kind);
    const recorder = await stage.session.record({ ...noFacts, agent: 'a' });
    await recorder.run({ run: 'r' }, async () => {
      await recorder.call({ kind: 'tool', name: 'refund', call: 'c' }, async () => {
        recorder.event(note('before'));
        await recorder.flush();
        await stage.session.rewind(1);
        recorder.event(note('after'));
        await recorder.flush();
        await stage.session.branch(recorder.branch).rewind(1);
      });
    });
    const { left, branch, failed, stored } = await recorder.close();
    expect([left.length, failed, stored]).toEqual([2, 0, 6]);
    const events = await Array.fromAsync(stage.session.branch(branch).replay());
    expect(events.map((event) => event.type)).toEqual([
      'run.started',
      'call.started',
      'note.added',
      'note.added',
      'call.ended',
      'run.ended',
    ]);
    expect(events.map((event) => event.causeSeq)).toEqual([undefined, 1, 2, 2, 2, 1]);
    expect(new Set(events.map((event) => event.id)).size).toBe(6);
    const forked = (await stage.events(branch)).filter((event) => event.type === 'branch.forked');
    expect(forked.map((event) => event.data['reason'])).toEqual([
      '"main" was rewound while it was being recorded',
      '"main-3" was rewound while it was being recorded',
    ]);
  });
});
