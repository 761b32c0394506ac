import { expect, test } from 'vitest';
import { openStage } from '../../../test/contract/recording-stage.ts';
import { RepriseError } from '../../core/error.ts';
import type { CallGuard } from '../../core/recording/call-guard.ts';
import type { ReusedAnswer } from '../../core/recording/recorder.ts';

const answer: ReusedAnswer = { outcome: 'ok', output: 'from the record', error: undefined };
const refusal = new RepriseError('effect.refused', 'Cannot call "refund": not twice');
const refund = { kind: 'tool', name: 'refund', call: 'c1', effect: 'irreversible' } as const;

/** A guard that notes what it is asked and told, and does what the overrides say. */
function noting(name: string, notes: string[], overrides: Partial<CallGuard> = {}): CallGuard {
  return {
    before: (call) => {
      notes.push(`${name} before`);
      return overrides.before?.(call);
    },
    started: (call, stored) => {
      notes.push(`${name} started`);
      return overrides.started?.(call, stored);
    },
    ended: (call, end) => {
      notes.push(`${name} ended ${end.outcome}`);
      overrides.ended?.(call, end);
    },
    withdrawn: (call) => {
      notes.push(`${name} withdrawn`);
      overrides.withdrawn?.(call);
    },
  };
}

async function called(
  middle: Partial<CallGuard>,
  first: Partial<CallGuard> = {},
): Promise<{ notes: string[]; gave: unknown; stored: string[]; errors: string[] }> {
  await using stage = await openStage('memory');
  const notes: string[] = [];
  const guards = [noting('first', notes, first), noting('middle', notes, middle), noting('last', notes)];
  const recorder = await stage.session.record({ facts: false, guards });
  const gave = await recorder
    .call(refund, () => {
      notes.push('made');
      return 'made now';
    })
    .catch((error: Error) => error);
  const { errors } = await recorder.close();
  const events = await stage.events();
  const stored = events.map(({ type, data }) => [type, data['outcome'], data['reused']].filter(Boolean).join(' '));
  return { notes, gave, stored, errors: errors.map(({ message }) => message) };
}

const asked = ['first before', 'middle before', 'last before'];
const checked = ['first started', 'middle started', 'last started'];
const over = ['first ended ok', 'middle ended ok', 'last ended ok'];

test('guards are asked in order before a call, once more when its start is stored, and hear its end', async () => {
  const { notes, gave, stored } = await called({});
  expect(gave).toBe('made now');
  expect(notes).toEqual([...asked, ...checked, 'made', ...over]);
  expect(stored).toEqual(['call.started', 'call.ended ok']);
});

test('the first guard that answers decides: later ones are not asked, those before hear that it is not made', async () => {
  const { notes, gave, stored } = await called({ before: async () => answer });
  expect(gave).toBe('from the record');
  expect(notes).toEqual(['first before', 'middle before', 'first withdrawn']);
  expect(stored).toEqual(['call.started', 'call.ended ok true']);
});

test('the first guard that refuses decides: nothing is stored, and the caller gets its error', async () => {
  const refuse = (): never => {
    throw refusal;
  };
  const { notes, gave, stored, errors } = await called({ before: refuse });
  expect(gave).toBe(refusal);
  expect(notes).toEqual(['first before', 'middle before', 'first withdrawn']);
  expect([stored, errors]).toEqual([[], []]);
});

test('a guard that refuses when the start is stored keeps the call from being made, and every guard hears its end', async () => {
  const { notes, gave, stored } = await called({ started: () => Promise.reject(refusal) });
  expect(gave).toBe(refusal);
  const ended = ['first ended aborted', 'middle ended aborted', 'last ended aborted'];
  expect(notes).toEqual([...asked, 'first started', 'middle started', ...ended]);
  expect(stored).toEqual(['call.started', 'call.ended aborted']);
});

test('a guard that throws when it hears of an end is reported, and the others hear of it', async () => {
  const breaks = (): never => {
    throw new Error('a guard broke');
  };
  const made = await called({ ended: breaks });
  expect([made.gave, made.errors]).toEqual(['made now', ['a guard broke']]);
  expect(made.notes).toEqual([...asked, ...checked, 'made', ...over]);
  const answered = await called({ before: () => answer }, { withdrawn: breaks });
  expect([answered.gave, answered.errors]).toEqual(['from the record', ['a guard broke']]);
});

test('only an irreversible call is asked about again when its start is stored', async () => {
  await using stage = await openStage('memory');
  const notes: string[] = [];
  const recorder = await stage.session.record({ facts: false, guards: [noting('only', notes)] });
  await recorder.call({ ...refund, effect: 'unknown' }, () => 1);
  await recorder.close();
  expect(notes).toEqual(['only before', 'only ended ok']);
});
