import { expect, test } from 'vitest';
import { openReprise, type Recorder, type Reprise } from '../../index.ts';
import { recorderHere } from './current-recorder.ts';

const quiet = { facts: false } as const;

test('recorderHere() is the recorder of the resume that code runs inside', async () => {
  await using reprise = await openReprise('memory:');
  const session = await reprise.createSession('story');
  const own = await session.record(quiet);
  own.message({ role: 'user', content: 'Go.' });
  await own.flush();
  expect(recorderHere(own)).toBe(own);
  expect(await own.run({}, () => recorderHere(own))).toBe(own);
  const elsewhere = await (await reprise.createSession('another')).record(quiet);
  // On its own branch, too, and with a run of another session between.
  await session.resume(async ({ recorder }) => {
    expect(recorderHere(own)).toBe(recorder);
    expect(await elsewhere.run({}, () => recorderHere(own))).toBe(recorder);
    const beside = await session.record(quiet);
    expect(await beside.run({}, () => recorderHere(own))).toBe(recorder);
  }, quiet);
});

test('recorderHere() is the given recorder where the program means it', async () => {
  await using reprise = await openReprise('memory:');
  const session = await reprise.createSession('story');
  const [boss, worker] = [await session.record(quiet), await session.record(quiet)];
  expect(await boss.run({}, () => recorderHere(worker))).toBe(worker);
  const branch = await session.fork('main@head');
  await boss.run({}, async () => {
    const made = await branch.record(quiet);
    expect(recorderHere(made)).toBe(made);
    await made.run({}, () => expect(recorderHere(made)).toBe(made));
    // Two agents may record on branches of their own.
    await made.run({}, () => expect(recorderHere(boss)).toBe(boss));
  });
});

test('I7 recorderHere() is never a recorder of another session, namespace or store', async () => {
  await using reprise = await openReprise('memory:');
  await using other = await openReprise('memory:');
  const made = async (place: Reprise, id = 'story'): Promise<Recorder> =>
    (await place.createSession(id)).record({ ...quiet, guards: [{}] });
  const own = await made(reprise);
  for (const foreign of [await made(other), await made(reprise.namespace('b')), await made(reprise, 'another')])
    expect(await foreign.run({}, () => recorderHere(own))).toBe(own);
});
