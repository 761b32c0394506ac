import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openStage } from '../../../test/contract/recording-stage.ts';
import type { Event } from '../../core/event/event.ts';
import type { Recorder } from '../../core/recording/recorder.ts';

/** An imagined program: something around other things, which happen one after another or side by side. */
interface Doing {
  readonly kind: 'run' | 'turn' | 'task' | 'call' | 'open-call' | 'note';
  readonly parallel: boolean;
  readonly pauses: number;
  readonly throws: boolean;
  readonly inside: readonly Doing[];
}

const { doing } = fc.letrec<{ doing: Doing }>((tie) => ({
  doing: fc.record({
    kind: fc.constantFrom('run', 'turn', 'task', 'call', 'open-call', 'note'),
    parallel: fc.boolean(),
    pauses: fc.nat(3),
    throws: fc.boolean(),
    inside: fc.oneof({ depthSize: 'small' }, fc.constant([]), fc.array(tie('doing'), { maxLength: 4 })),
  }),
}));

/** Does it, and remembers for every name what was around it. */
async function perform(recorder: Recorder, program: Doing, around: Map<string, string>): Promise<void> {
  let count = 0;
  const go = async (what: Doing, enclosing: string): Promise<void> => {
    const name = `n${count++}`;
    around.set(name, enclosing);
    const inside = async (): Promise<void> => {
      for (let pause = 0; pause < what.pauses; pause++) await Promise.resolve();
      const each = (next: Doing): Promise<void> => go(next, name).catch(() => undefined);
      if (what.parallel) await Promise.all(what.inside.map(each));
      else for (const next of what.inside) await each(next);
      if (what.throws) throw new Error(name);
    };
    if (what.kind === 'note') recorder.event({ type: 'note.added', data: { text: name } });
    else if (what.kind === 'run') await recorder.run({ title: name }, inside);
    else if (what.kind === 'turn') await recorder.turn({ title: name }, inside);
    else if (what.kind === 'task') await recorder.task({ task: name, title: name }, inside);
    else if (what.kind === 'call') await recorder.call({ kind: 'tool', name, call: name, effect: 'pure' }, inside);
    else {
      const open = await recorder.startCall({ kind: 'model', name, call: name });
      await open.within(inside).then(
        () => open.end(),
        (error: unknown) => open.end({ error }),
      );
    }
  };
  await go(program, '').catch(() => undefined);
}

const nameOf = (event: Event): unknown =>
  event.data['title'] ?? event.data['call'] ?? event.data['text'] ?? event.data['task'];
const isStart = (event: Event): boolean => event.type.endsWith('.started');
const isEnd = (event: Event): boolean => event.type.endsWith('.ended');

test('whatever is nested in whatever, every event has what is around it as its cause, and every start one end', async () => {
  await fc.assert(
    fc.asyncProperty(doing, async (program) => {
      await using stage = await openStage('memory');
      const recorder = await stage.session.record({ facts: false });
      const around = new Map<string, string>();
      await perform(recorder, program, around);
      const { failed } = await recorder.close();
      expect(failed).toBe(0);
      const events = await stage.events();
      const byId = new Map(events.map((event) => [event.id, event]));
      for (const event of events) {
        const cause = event.cause === undefined ? undefined : byId.get(event.cause);
        if (isEnd(event)) {
          expect(cause?.type).toBe(event.type.replace('ended', 'started'));
          expect(events.filter((other) => other.type === event.type && other.cause === event.cause)).toHaveLength(1);
        } else expect(cause === undefined ? '' : nameOf(cause)).toBe(around.get(String(nameOf(event))));
        if (cause !== undefined) expect(event.seq).toBeGreaterThan(cause.seq);
      }
      expect(events.filter(isEnd)).toHaveLength(events.filter(isStart).length);
    }),
    { numRuns: 150 },
  );
});
