import { describe, expect, test } from 'vitest';
import { canonicalJson } from '../core/canonical-json.ts';
import { type Event, erasedData } from '../core/event/event.ts';
import { project } from '../core/event/projection.ts';
import type { JsonObject } from '../core/json.ts';
import { limits } from '../core/limits.ts';
import type { Digest, Seq } from '../core/point.ts';
import { type Summary, type SummaryState, summary } from './summary.ts';

type Draft = Pick<Event, 'type' | 'data'> & Partial<Event>;

function history(...drafts: readonly Draft[]): Event[] {
  return drafts.map((draft, index) => ({
    session: 's',
    branch: 'main',
    seq: (index + 1) as Seq,
    id: `e${index + 1}`,
    time: new Date(Date.UTC(2026, 0, 1, 0, 0, index + 1)).toISOString(),
    version: 1,
    turn: index,
    agent: 'a',
    run: 'r',
    digest: '' as Digest,
    ...draft,
  }));
}

const draft = (type: string, data: JsonObject = {}, more: Partial<Event> = {}): Draft => ({ type, data, ...more });
const of = (...drafts: readonly Draft[]): Summary => project(summary, history(...drafts));
const said = (content: string, role = 'user'): Draft => draft('message.added', { message: { role, content } });

describe('summary', () => {
  test('of nothing has nothing', () => {
    expect(of()).toMatchObject({
      title: null,
      startedAt: null,
      events: 0,
      outcome: null,
      silentSince: null,
      durationMs: null,
    });
  });

  test('has all that a listing shows', () => {
    const found = of(
      draft('run.started', { title: 'Refund', git: { branch: 'main', sha: '1a2b', dirty: false } }),
      said('Where is it?'),
      draft(
        'call.ended',
        { call: 'c', kind: 'model', name: 'm', outcome: 'ok', usage: { inputTokens: 3, outputTokens: 4 }, cost: 0.5 },
        { agent: 'B' },
      ),
      draft('run.ended', { outcome: 'ok' }),
    );
    expect(found).toEqual({
      title: 'Refund',
      startedAt: '2026-01-01T00:00:01.000Z',
      endedAt: '2026-01-01T00:00:04.000Z',
      durationMs: 3000,
      events: 4,
      turns: 3,
      agents: ['B', 'a'],
      outcome: 'ok',
      silentSince: null,
      spending: { inputTokens: 3, outputTokens: 4, cost: 0.5, unpricedCalls: 0 },
      git: { branch: 'main', sha: '1a2b' },
      erased: 0,
    });
  });

  test('of a run that nobody ended says since when it is silent', () => {
    expect(of(draft('run.started'), said('x'))).toMatchObject({
      outcome: 'silent',
      silentSince: '2026-01-01T00:00:02.000Z',
      endedAt: null,
      durationMs: 1000,
    });
  });

  test('one of two runs that has not ended is enough to be silent', () => {
    expect(
      of(draft('run.started'), draft('run.started', {}, { run: 'q' }), draft('run.ended', { outcome: 'ok' })).outcome,
    ).toBe('silent');
  });

  test('a run that was resumed is not silent, and the resumed one says how it ended', () => {
    const resumed = draft('run.started', { resumed: {} }, { run: 'q' });
    const end = draft('run.ended', { outcome: 'error' }, { run: 'q' });
    expect(of(draft('run.started'), resumed, end)).toMatchObject({ outcome: 'error', silentSince: null });
  });

  test('the time that passed before a run was resumed is not counted, nor that of an edit made later', () => {
    const [first, edited, again, call, end] = [
      draft('run.started'),
      draft('settings.changed', { system: 'Be careful.' }),
      draft('run.started', { resumed: { run: 'r' } }, { run: 'q' }),
      draft('call.ended', { call: 'c', kind: 'tool', name: 't', outcome: 'ok' }, { run: 'q' }),
      draft('run.ended', { outcome: 'ok' }, { run: 'q' }),
    ];
    // One second apart each: what ran is from the resumption on.
    expect(of(first, edited, again, call, end)).toMatchObject({ durationMs: 2000, outcome: 'ok' });
  });

  test('the time between two runs is that of a person, unless a task goes on', () => {
    const at = (seconds: number): Partial<Event> => ({
      time: new Date(Date.UTC(2026, 0, 1, 0, 0, seconds)).toISOString(),
    });
    const chat = [
      draft('run.started', {}, at(0)),
      draft('run.ended', { outcome: 'ok' }, at(2)),
      draft('message.added', { message: { role: 'user', content: 'And then?' } }, at(600)),
      draft('run.started', {}, { ...at(600), run: 'q' }),
      draft('run.ended', { outcome: 'ok' }, { ...at(603), run: 'q' }),
    ];
    expect(of(...chat).durationMs).toBe(5000);
    expect(of(draft('task.started', { task: 't' }, at(0)), ...chat).durationMs).toBe(603_000);
  });

  test('waiting for a person does not count, unless something runs meanwhile', () => {
    const at = (seconds: number): Partial<Event> => ({
      time: new Date(Date.UTC(2026, 0, 1, 0, 0, seconds)).toISOString(),
    });
    const asked = { call: 'p', kind: 'person', name: 'approval' };
    const tool = { call: 't', kind: 'tool', name: 'search' };
    const run = (...inside: readonly Draft[]): Summary =>
      of(draft('run.started', {}, at(0)), ...inside, draft('run.ended', { outcome: 'ok' }, at(100)));
    const question = draft('call.started', asked, at(10));
    const answer = draft('call.ended', { ...asked, outcome: 'ok' }, at(90));
    expect(run(question, answer).durationMs).toBe(20_000);
    const beside = [draft('call.started', tool, at(10)), draft('call.ended', { ...tool, outcome: 'ok' }, at(40))];
    expect(run(question, ...beside, answer).durationMs).toBe(50_000);
  });

  test('without a run has no outcome', () => {
    expect(of(draft('note.added', { text: 'x' }))).toMatchObject({ outcome: null, silentSince: null });
  });

  test('takes its title from the first user message if no run has one, cut to a line', () => {
    expect(of(said('be brief', 'system'), said('  one\n two ')).title).toBe('one two');
    const long = of(said('😀'.repeat(100))).title ?? '';
    expect([...long]).toHaveLength(limits.titleCharactersMax);
    expect(long.endsWith('…')).toBe(true);
    expect(of(said('asked'), draft('run.started', { title: 'Named' })).title).toBe('Named');
  });

  test('says how many payloads were erased', () => {
    expect(
      of(
        said('x'),
        { ...said('y'), data: erasedData, erased: true },
        { ...draft('run.ended'), data: erasedData, erased: true },
      ),
    ).toMatchObject({ erased: 2, outcome: 'unknown' });
  });

  test('names only so many agents', () => {
    expect(
      of(...Array.from({ length: 150 }, (_, n) => draft('note.added', { text: 'x' }, { agent: `a${n}` }))).agents,
    ).toHaveLength(limits.summaryAgentsMax);
  });

  test('that was stored and read back goes on as if nothing had happened', () => {
    const events = history(
      draft('run.started'),
      said('x'),
      draft('run.started', { resumed: {} }, { run: 'q' }),
      draft('run.ended', { outcome: 'ok' }, { run: 'q' }),
    );
    let state = summary.initial();
    for (const one of events) state = JSON.parse(canonicalJson(summary.apply(state, one))) as SummaryState;
    expect(summary.finish?.(state)).toEqual(project(summary, events));
  });
});
