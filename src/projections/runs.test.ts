import { describe, expect, test } from 'vitest';
import { canonicalJson } from '../core/canonical-json.ts';
import { type Event, erasedData } from '../core/event/event.ts';
import { project } from '../core/event/projection.ts';
import type { JsonObject } from '../core/json.ts';
import type { Digest, Seq } from '../core/point.ts';
import { type CallNode, type RunNode, type RunsState, runs, type TurnNode } from './runs.ts';

type Draft = Pick<Event, 'type' | 'data'> & Partial<Event>;

/** One event a second, of run r in turn 1 unless said otherwise. */
function history(...drafts: readonly Draft[]): Event[] {
  return drafts.map((draft, index) => ({
    session: 's',
    branch: 'main',
    seq: (index + 1) as Seq,
    id: `e${index + 1}`,
    time: new Date(Date.UTC(2026, 0, 1, 0, 0, index + 1)).toISOString(),
    version: 1,
    turn: 1,
    agent: 'a',
    run: 'r',
    digest: '' as Digest,
    ...draft,
  }));
}

const draft = (type: string, data: JsonObject = {}, more: Partial<Event> = {}): Draft => ({ type, data, ...more });
const began = (call: string, kind = 'tool', more: Partial<Event> = {}): Draft =>
  draft('call.started', { call, kind, name: 'n' }, more);
const ended = (call: string, data: JsonObject = {}, more: Partial<Event> = {}): Draft =>
  draft('call.ended', { call, kind: 'tool', name: 'n', outcome: 'ok', ...data }, more);

const runsOf = (...drafts: readonly Draft[]): readonly RunNode[] => project(runs, history(...drafts)).runs;
const first = (...drafts: readonly Draft[]): RunNode => runsOf(...drafts)[0] as RunNode;
const callsOf = (run: RunNode): CallNode[] => run.turns.flatMap((turn) => turn.calls);

describe('runs', () => {
  test('have title, agent, timing and outcome', () => {
    const run = first(
      draft('run.started', { title: 'Refund' }),
      began('c1'),
      ended('c1'),
      draft('run.ended', { outcome: 'error' }),
    );
    expect(run).toMatchObject({
      run: 'r',
      agent: 'a',
      title: 'Refund',
      status: 'error',
      startedSeq: 1,
      endedSeq: 4,
      durationMs: 3000,
    });
  });

  test('that have not ended are open', () => {
    expect(first(draft('run.started'))).toMatchObject({ status: 'open', endedAt: null, durationMs: null });
  });

  test('are in order of their first event, and what belongs to none has a place', () => {
    const found = runsOf(
      draft('note.added', { text: 'x' }, { run: undefined } as unknown as Partial<Event>),
      draft('run.started'),
      draft('run.started', {}, { run: '__proto__' }),
    );
    expect(found.map((run) => run.run)).toEqual([null, 'r', '__proto__']);
  });

  test('that resume another say so', () => {
    expect(first(draft('run.started', { resumed: { run: 'r0' } })).resumed).toEqual({ run: 'r0' });
  });
});

describe('turns', () => {
  test('group the calls that were started in them', () => {
    const run = first(
      draft('turn.started', { title: 'Ask' }),
      began('c1'),
      began('c2', 'tool', { turn: 2 }),
      ended('c1', {}, { turn: 2 }),
      draft('turn.ended', { outcome: 'ok' }),
    );
    expect(run.turns.map((turn) => [turn.turn, turn.title, turn.status, turn.calls.map((call) => call.call)])).toEqual([
      [1, 'Ask', 'ok', ['c1']],
      [2, null, 'open', ['c2']],
    ]);
  });
});

describe('calls', () => {
  test('have status, timing and what they took', () => {
    const [call] = callsOf(
      first(
        began('c1', 'model'),
        ended('c1', {
          kind: 'model',
          latencyMs: 7,
          firstTokenMs: 3,
          attempts: 2,
          usage: { inputTokens: 5, outputTokens: 6 },
          cost: 0.5,
        }),
      ),
    );
    expect(call).toMatchObject({
      call: 'c1',
      kind: 'model',
      status: 'ok',
      durationMs: 1000,
      latencyMs: 7,
      firstTokenMs: 3,
      attempts: 2,
    });
    expect(call?.spending).toEqual({ inputTokens: 5, outputTokens: 6, cost: 0.5, unpricedCalls: 0 });
  });

  test('what they took is summed up by turn and by run, and an unknown price stays unknown', () => {
    const usage = { inputTokens: 1, outputTokens: 2 };
    const run = first(
      began('c1', 'model'),
      ended('c1', { kind: 'model', usage }),
      began('c2', 'model', { turn: 2 }),
      ended('c2', { kind: 'model', usage, cost: 0.1 }),
    );
    expect(run.spending).toEqual({ inputTokens: 2, outputTokens: 4, cost: 0.1, unpricedCalls: 1 });
    expect((run.turns[0] as TurnNode).spending.cost).toBeNull();
  });

  test('that have not ended are open, in parallel too', () => {
    const run = first(began('c1'), began('c2'), ended('c2', { outcome: 'aborted' }));
    expect(callsOf(run).map((call) => [call.call, call.status])).toEqual([
      ['c1', 'open'],
      ['c2', 'aborted'],
    ]);
  });

  test('with the same id in two runs are two calls', () => {
    const both = [began('c1'), began('c1', 'tool', { run: 'q' })];
    const statuses = (end: Draft): unknown[] => runsOf(...both, end).map((run) => callsOf(run)[0]?.status);
    expect(statuses(ended('c1', { outcome: 'error' }))).toEqual(['error', 'open']);
    expect(statuses(ended('c1', { outcome: 'error' }, { run: 'q' }))).toEqual(['open', 'error']);
  });

  test('with the same id in one run differ by their causes and their agents', () => {
    const other = { agent: 'b' };
    const both = [began('c1'), began('c1'), began('c1', 'tool', other)];
    const run = first(...both, ended('c1', { outcome: 'error' }, { cause: 'e1' }), ended('c1', {}, other));
    expect(callsOf(run).map((call) => call.status)).toEqual(['error', 'open', 'ok']);
  });

  test('whose id is used again are found by the start that is open', () => {
    const run = first(began('c1'), ended('c1'), began('c1'), ended('c1', { outcome: 'error' }));
    expect(callsOf(run).map((call) => call.status)).toEqual(['ok', 'error']);
  });

  test('whose start is not in the view are shown with their end', () => {
    expect(callsOf(first(ended('c9')))).toMatchObject([{ call: 'c9', status: 'ok', durationMs: 0 }]);
  });
});

describe('erased payloads', () => {
  const erased = (one: Draft): Draft => ({ ...one, data: erasedData, erased: true });

  test('of an end leave its status unknown', () => {
    const run = first(
      began('c1'),
      { ...erased(ended('c1')), cause: 'e1', causeSeq: 1 as Seq },
      erased(draft('run.ended')),
    );
    expect(callsOf(run)).toMatchObject([{ call: 'c1', status: 'unknown', erased: true }]);
    expect(run).toMatchObject({ status: 'unknown', erased: 2 });
  });

  test('of a start leave the call without a name, and its end is still found', () => {
    const run = first(erased(began('c1')), { ...ended('c1'), cause: 'e1' });
    expect(callsOf(run)).toMatchObject([{ call: null, status: 'ok', erased: true }]);
  });
});

test('a value that was stored and read back goes on as if nothing had happened', () => {
  const events = history(
    draft('run.started'),
    began('c1', 'model'),
    began('c2'),
    ended('c2'),
    ended('c1', { kind: 'model', cost: 1 }),
    draft('run.ended', { outcome: 'ok' }),
  );
  let state = runs.initial();
  for (const one of events) state = JSON.parse(canonicalJson(runs.apply(state, one))) as RunsState;
  expect(runs.finish?.(state)).toEqual(project(runs, events));
});
