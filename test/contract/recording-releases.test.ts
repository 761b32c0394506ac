/** Recording and resuming let go of their messages, timers and listeners when they are done. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { createNodePlatform, type Message, type OpenCall, openMemoryStore, openReprise } from '../../src/index.ts';
import { openStage } from './recording-stage.ts';

setFlagsFromString('--expose_gc');
const collectGarbage = runInNewContext('gc') as () => void;
const breath = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

/** Makes a call and ends it. Apart, so that no frame of the test holds what was sent. */
async function endedCall(start: (messages: Message[]) => Promise<OpenCall>): Promise<[OpenCall, WeakRef<Message[]>]> {
  const messages: Message[] = [{ role: 'user', content: 'Go.' }];
  const call = await start(messages);
  call.end({ message: { role: 'assistant', content: 'Gone.' } });
  return [call, new WeakRef(messages)];
}

test('a call that has ended lets go of what was sent, also while somebody remembers the call', async () => {
  await using stage = await openStage('memory');
  await using recorder = await stage.session.record({ facts: false });
  const [call, sent] = await endedCall((messages) =>
    recorder.startCall({ kind: 'model', name: 'm', request: { messages } }),
  );
  await recorder.flush();
  for (let round = 0; round < 20 && sent.deref() !== undefined; round++) {
    await breath();
    collectGarbage();
  }
  expect(sent.deref()).toBeUndefined();
  expect(call.within(() => 1)).toBe(1);
});

test('a resume that ends, or never begins, leaves no timer behind', async () => {
  const platform = createNodePlatform();
  const running = new Set<object>();
  const startTimer: typeof platform.startTimer = (ms, fire) => {
    const timer = {};
    running.add(timer);
    const stop = platform.startTimer(ms, () => {
      running.delete(timer);
      fire();
    });
    return () => {
      running.delete(timer);
      stop();
    };
  };
  const store = openMemoryStore({ platform });
  await using reprise = await openReprise({ store, platform: { ...platform, startTimer } });
  const session = await reprise.createSession('demo');
  await session.append({ type: 'message.added', data: { message: { role: 'user', content: 'Go.' } } });
  const options = { timeoutMs: 3_600_000 };
  const branch = await session.fork('main');
  const aborted = branch.resume(async () => 'x', { ...options, signal: AbortSignal.abort() });
  await expect(aborted).rejects.toMatchObject({ code: 'resume.aborted' });
  expect(running.size).toBe(0);
  await expect(branch.resume(async () => 'x', { ...options, agentName: '\u0000' })).rejects.toMatchObject({
    code: 'id.invalid',
  });
  expect(running.size).toBe(0);
  await branch.resume(async () => 'x', options);
  expect(running.size).toBe(0);
});
