import { create, toBinary } from '@bufbuild/protobuf';
import { describe, expect, test } from 'vitest';
import type { EventDraft } from '../../src/core/event/event.ts';
import { limits } from '../../src/core/limits.ts';
import type { Seq } from '../../src/core/point.ts';
import { chunkEvents, columnFlags, type EventRows, rowsOf } from '../../src/core/session/event-columns.ts';
import type { Session } from '../../src/index.ts';
import { conversation, state } from '../../src/index.ts';
import { createNodePlatform } from '../../src/node/platform.ts';
import { branchPage } from '../../src/reading/looks/branch-rows.ts';
import { contextAt } from '../../src/reading/looks/call-context.ts';
import { comparedPage, compareTable, compareViews } from '../../src/reading/looks/compared-views.ts';
import type { ContextMark, ContextMessage, ContextTool } from '../../src/reading/looks/context-marks.ts';
import type { Cut } from '../../src/reading/looks/cut-value.ts';
import { previewChange, previewEdits } from '../../src/reading/looks/edit-preview.ts';
import { causesOf } from '../../src/reading/looks/event-causes.ts';
import { type IndexPart, readIndex } from '../../src/reading/looks/event-index.ts';
import { searchEvents } from '../../src/reading/looks/event-search.ts';
import { type KnownReading, knownSections, lookProjection } from '../../src/reading/looks/known-sections.ts';
import { sessionPage } from '../../src/reading/looks/session-rows.ts';
import { cutEvents, eventsAt, gistOf, textAt } from '../../src/reading/looks/shown-events.ts';
import { readChanges } from '../../src/reading/looks/value-changes.ts';
import { projectionNamed } from '../../src/reading/shipped-projections.ts';
import { IndexChunkSchema } from '../../src/wire/generated/reprise/v1/studio_pb.ts';
import { columnsFromWire, columnsToWire } from '../../src/wire/index-codec.ts';
import { storyEvents, studioStory } from './studio-story.ts';

const { sha256 } = createNodePlatform();
const at = (seq: number, branch = 'main') => ({ branch, seq: seq as Seq });
const named = (name: string) => projectionNamed(name, sha256);
/** The section of one projection. */
async function sectionOf(
  session: Session,
  projection: ReturnType<typeof named>,
  reading: KnownReading,
  options: { readonly skipsEmpty?: boolean } = {},
) {
  return (await knownSections(session, [projection], reading, options))[0];
}

/** The event of a seq in the life of a busy fleet: calls of models and tools with figures, messages and notes. */
function busy(seq: number): EventDraft {
  const turn = Math.floor(seq / 5);
  const who = { agent: `agent ${turn % 4}`, run: `01J8ZC5Q2W3E4R5T6Y7U8I${Math.floor(seq / 400)}` };
  const model = { call: `m${turn}`, kind: 'model', name: `large-${turn % 3}` };
  const tool = { call: `t${turn}`, kind: 'tool', name: `tool ${turn % 20}` };
  const usage = { inputTokens: 20_000 + seq, outputTokens: seq % 900, cachedInputTokens: 19_000 };
  switch (seq % 5) {
    case 0:
      return { type: 'call.started', ...who, data: { ...model, request: { messages: [] } } };
    case 1: {
      const spent = { usage, cost: 0.01 + seq / 1e6, latencyMs: 900 + (seq % 5_000), firstTokenMs: 300 + (seq % 500) };
      return { type: 'call.ended', ...who, data: { ...model, outcome: 'ok', ...spent } };
    }
    case 2:
      return { type: 'call.started', ...who, data: { ...tool, effect: 'pure', input: { seq } } };
    case 3:
      return { type: 'call.ended', ...who, data: { ...tool, outcome: 'ok', output: seq, latencyMs: seq % 3_000 } };
    default:
      return { ...note(`note ${seq}`), ...who };
  }
}

const note = (text: string): EventDraft => ({ type: 'note.added', data: { text } });

async function indexOf(session: Session, reading: Parameters<typeof readIndex>[1]) {
  const parts: IndexPart[] = [];
  for await (const part of readIndex(session, reading)) parts.push(part);
  const chunks = parts.flatMap((part) => (part.kind === 'chunk' ? [part.columns] : []));
  const view = parts.find((part) => part.kind === 'view');
  return { parts, chunks, view, rows: chunks.map(rowsOf) };
}

/** A row in words: `type agent kind name outcome`. */
function words(rows: EventRows, seq: number): string {
  const row = seq - rows.first;
  const text = (column: Uint16Array): string => rows.texts[column[row] ?? 0] ?? '';
  return [rows.type, rows.agent, rows.kind, rows.name, rows.effect, rows.outcome].map(text).filter(Boolean).join(' ');
}

describe.each(['memory', 'sqlite'] as const)('the studio reads on %s', (kind) => {
  test('the index of a branch: every event in columns, and which of them the view has', async () => {
    await using story = await studioStory(kind);
    const { session } = story;
    await session.rewind(6);
    const { parts, rows, view } = await indexOf(session, { branch: 'main' });
    expect(parts.map((part) => part.kind)).toEqual(['range', 'chunk', 'view']);
    const [all] = rows;
    expect(all?.count).toBe(11);
    if (all === undefined) return;
    expect(words(all, 3)).toBe('call.started support model large-1');
    expect(words(all, 5)).toBe('call.started support tool lookup pure');
    expect(words(all, 9)).toBe('call.ended support model large-1 error');
    expect(words(all, 7)).toBe('state.committed support amount');
    expect([all.began[3], all.cause[3], all.latency[3], all.firstToken[3]]).toEqual([3, 3, 3000, 600]);
    expect([all.inputTokens[3], all.outputTokens[3], all.cachedTokens[3], all.cost[3]]).toEqual([100, 20, 40, 2000]);
    expect([all.cost[8], all.cost[0]]).toEqual([-1, -1]);
    expect(new Date(all.time[8] ?? 0).toISOString()).toBe('2026-11-15T10:00:13.000Z');
    expect((all.flags[8] ?? 0) & columnFlags.error).not.toBe(0);
    expect((all.flags[10] ?? 0) & columnFlags.marker).not.toBe(0);
    expect(view).toEqual({ kind: 'view', head: 11, pieces: [{ after: 0, through: 6, carried: false, replaces: [] }] });
  });

  test('the index comes from the chosen point outwards, in chunks that a fork shares, and only folds what is new', async () => {
    await using story = await studioStory(kind, []);
    const { session } = story;
    const total = chunkEvents * 2 + 10;
    for (let from = 0; from < total; from += 1_000) {
      const count = Math.min(1_000, total - from);
      await session.append(Array.from({ length: count }, (_, index) => busy(from + index + 1)));
    }
    const { chunks } = await indexOf(session, { branch: 'main', around: 5_000 });
    expect(chunks.map(({ first }) => first)).toEqual([chunkEvents + 1, 1, chunkEvents * 2 + 1]);
    expect(chunks.map(({ flags }) => flags.length)).toEqual([chunkEvents, chunkEvents, 10]);
    const tail = await indexOf(session, { branch: 'main', after: total - 3 });
    expect(tail.chunks.map(({ first, flags }) => [first, flags.length])).toEqual([[total - 2, 3]]);
    const fork = await session.fork(`main@${chunkEvents + 2}`, { name: 'side' });
    const side = await indexOf(session, { branch: fork.name });
    expect(side.chunks.map(({ first, flags }) => [first, flags.length])).toEqual([
      [chunkEvents + 1, 3],
      [1, chunkEvents],
    ]);
    const wire = chunks.map((columns) => toBinary(IndexChunkSchema, create(IndexChunkSchema, columnsToWire(columns))));
    const bytes = wire.reduce((sum, { length }) => sum + length, 0);
    expect(bytes / total).toBeLessThan(24);
  });

  test('columns survive the wire, also over a gap of years', async () => {
    await using story = await studioStory(kind);
    const { session } = story;
    await session.append([{ ...note('later'), time: '2036-01-01T00:00:00.000Z' }, note('now')]);
    const { chunks } = await indexOf(session, { branch: 'main' });
    for (const columns of chunks)
      expect(columnsFromWire(create(IndexChunkSchema, columnsToWire(columns)))).toEqual(columns);
  });

  test('events and their gists; a long text is cut, and the rest is read by itself', async () => {
    await using story = await studioStory(kind);
    const { session } = story;
    const long = 'x🙂'.repeat(200_000);
    await session.append(note(long));
    const [first, last] = await eventsAt(session, 'main', [2, 11]);
    expect([first?.seq, last?.seq]).toEqual([2, 11]);
    expect(gistOf(first as never)).toContain('Order 7 broke.');
    const [cut] = cutEvents([last as never]);
    const [found]: readonly Cut[] = cut?.cuts ?? [];
    expect(found).toMatchObject({ path: '/data/text', length: long.length, items: false });
    expect(found?.shown).toBeLessThanOrEqual(limits.shownTextMax);
    const shown = found?.shown ?? 0;
    expect(textAt(last as never, '/data/text', { offset: shown, length: 6 })).toEqual({
      text: long.slice(shown, shown + 6),
      length: long.length,
    });
    await expect(eventsAt(session, 'main', [99])).rejects.toMatchObject({ code: 'point.out-of-range' });
    await expect(
      eventsAt(
        session,
        'main',
        Array.from({ length: limits.shownEventsMax + 1 }, () => 1),
      ),
    ).rejects.toMatchObject({
      code: 'limit.exceeded',
    });
  });

  test('the context of a call: what was new since the call before, and what was edited', async () => {
    await using story = await studioStory(kind);
    const { session } = story;
    const first = await contextAt(session, at(4));
    expect(first.call).toMatchObject({ seq: 3, endSeq: 4, name: 'large-1' });
    expect([first.against, first.total, first.counts.new]).toEqual([null, 1, 1]);
    const second = await contextAt(session, at(8));
    expect(second.against).toEqual({ ref: 'demo@3', kind: 'call' });
    expect(second.call?.end).toMatchObject({ outcome: 'error' });
    const marked = ({ role, mark, seq }: ContextMessage): readonly [string, ContextMark, number] => [role, mark, seq];
    expect(second.messages.map(marked)).toEqual([
      ['assistant', 'new', 4],
      ['tool', 'new', 6],
    ]);
    expect([second.system.mark, second.system.was, second.settings.mark]).toEqual(['edited', 'Be kind.', 'edited']);
    const [tool]: readonly ContextTool[] = second.tools;
    expect([second.tools.length, tool?.name, tool?.mark]).toEqual([1, 'lookup', 'same']);
    expect(second.sizes.results).toBeGreaterThan(0);
    const all = await contextAt(session, { ...at(8), offset: 0, limit: 200 });
    expect(all.messages.map(({ mark }) => mark)).toEqual(['same', 'new', 'new']);
    const edited = await contextAt(session, { ...at(7), edits: [{ kind: 'prompt', text: 'Order 8 broke.' }] });
    expect(edited.against?.kind).toBe('unedited');
    expect(edited.messages.find(({ mark }) => mark === 'edited')).toMatchObject({
      message: { content: 'Order 8 broke.' },
      was: { content: 'Order 7 broke.' },
    });
    expect((await session.fold(conversation)).messages[0]?.message).toMatchObject({
      content: 'Order 7 broke.',
    });
  });

  test('values with what changed here and since, through the eyes of an agent, and every point of change', async () => {
    await using story = await studioStory(kind);
    const { session } = story;
    await session.state.as('support').transaction((tx) => tx.write('amount', 50));
    await session.state.as('other').transaction((tx) => tx.write('plan', 'wait'));
    const section = await sectionOf(session, named('state'), { ...at(11), since: 'main@7' });
    expect(section?.changedHere.changed.map(({ path }) => path.join('/'))).toContain('support/amount/value');
    expect(section?.since?.ref).toBe('demo@7');
    const eyes = await sectionOf(session, named('state'), { ...at(12), eyes: 'other' });
    expect(Object.keys(eyes?.value as object)).toEqual(['other']);
    expect(await sectionOf(session, named('graph'), at(12), { skipsEmpty: true })).toBeUndefined();
    await session.spawn('db', { scope: ['database'] });
    for (const topic of ['database', 'network'])
      await session.beliefs.commit({ agent: 'db', topic: 'database', kind: 'fact', claim: `${topic} is fine` });
    const { seq: now } = await session.locate();
    const seen = await sectionOf(session, lookProjection('beliefs', sha256, 'db'), { ...at(now), eyes: 'db' });
    expect(seen?.value).toMatchObject([{ agent: 'db' }, { agent: 'db' }]);
    await session.setMetadata({ owner: { name: 'Ada' } });
    const { seq: owned } = await session.locate();
    const metadata = await sectionOf(session, named('metadata'), { ...at(owned), eyes: 'db' });
    expect(metadata?.value).toMatchObject({ owner: { name: 'Ada' } });
    const stranger = await sectionOf(session, lookProjection('beliefs', sha256, 'nobody'), at(now));
    expect(stranger?.value).toEqual([]);
    const { changes, next } = await readChanges(session, state, { ...at(12), path: '/support/amount/value' });
    expect(next).toBeUndefined();
    expect(changes.map(({ seq, before, after }) => [seq, before, after])).toEqual([
      [7, undefined, 500],
      [11, 500, 50],
    ]);
    const found: number[] = [];
    for (let after: number | undefined = 0; after !== undefined; ) {
      const asked = { ...at(12), path: '/support/amount/value', after, isTimeUp: () => true };
      const page = await readChanges(session, state, asked);
      found.push(...page.changes.map(({ seq }) => seq));
      after = page.next;
    }
    expect(found).toEqual([7, 11]);
  });

  test('causes up to the first, what followed, the first error of the run and the decision before it', async () => {
    await using story = await studioStory(kind);
    const found = await causesOf(story.session, 'main', 5 as Seq);
    expect(found.causes.map(({ seq }) => seq)).toEqual([4, 3, 2]);
    expect(found.consequences.map(({ seq, depth }) => [seq, depth])).toEqual([
      [6, 1],
      [8, 2],
      [9, 3],
    ]);
    expect([found.firstError?.seq, found.decidedBy?.seq, found.forkAt]).toEqual([9, 8, 'demo@7']);
  });

  test('a tool call whose recorder knew only the run followed from the answer that asks for it', async () => {
    await using story = await studioStory(kind);
    const session = await story.reprise.session('asked', { create: true });
    await session.append(
      storyEvents.slice(0, 6).map((draft) => (draft.id === 'e-5' ? { ...draft, cause: 'e-1' } : draft)),
    );
    const approved: EventDraft = { type: 'note.added', run: 'run-1', cause: 'e-4', data: { text: 'do it again' } };
    const again = storyEvents[4] as EventDraft;
    await session.append([
      { ...approved, id: 'e-7' },
      { ...again, id: 'e-8', cause: 'e-7' },
    ]);
    const up = async (seq: number) => (await causesOf(session, 'main', seq as Seq)).causes.map((cause) => cause.seq);
    expect([await up(6), await up(8)]).toEqual([
      [5, 4, 3, 2],
      [7, 4, 3, 2],
    ]);
    const down = async (seq: number) =>
      (await causesOf(session, 'main', seq as Seq)).consequences.map(({ seq: at, depth, cause }) => [at, depth, cause]);
    const followed = [
      [5, 1, 4],
      [6, 2, 5],
      [7, 1, 4],
      [8, 2, 7],
    ];
    expect(await down(4)).toEqual(followed);
    expect(await down(3)).toEqual([[4, 1, 3], ...followed.map(([at, depth = 0, cause]) => [at, depth + 1, cause])]);
    // A later answer that asks by the same id is the cause of the call after it.
    const [answer, tool] = storyEvents.slice(3, 5) as [EventDraft, EventDraft];
    await session.append([
      { ...answer, id: 'e-9', cause: 'e-1' },
      { ...tool, id: 'e-10', cause: 'e-1' },
    ]);
    expect([await up(10), await down(9), await down(4)]).toEqual([[9, 1], [[10, 1, 9]], followed]);
  });

  test('a search finds words in the view or in raw history, page by page', async () => {
    await using story = await studioStory(kind);
    const { session } = story;
    const search = { ...at(10), text: 'ORDER 7', filter: {}, isRaw: false };
    const { hits, next } = await searchEvents(session, search);
    expect(hits.map(({ seq, path }) => [seq, path])).toEqual([
      [1, '/data/title'],
      [2, '/data/message/content'],
      [3, '/data/request/messages/0/content'],
      [8, '/data/request/messages/0/content'],
    ]);
    expect(next).toBeUndefined();
    const keys = await searchEvents(session, { ...search, text: 'inputtok' });
    expect(keys.hits.map(({ seq, path }) => [seq, path])).toEqual([[4, '/data/usage/cachedInputTokens']]);
    const tools = await searchEvents(session, { ...search, text: '', filter: { kind: 'tool' } });
    expect(tools.hits.map(({ seq }) => seq)).toEqual([5, 6]);
    const page = await searchEvents(session, { ...search, isTimeUp: () => true });
    expect([page.searched, page.next]).toEqual([1, 1]);
    await session.revert(2);
    const left = await searchEvents(session, { ...search, seq: 11 as Seq });
    expect(left.hits.map(({ seq }) => seq)).not.toContain(2);
    const raw = await searchEvents(session, { ...search, seq: 11 as Seq, isRaw: true });
    expect(raw.hits.map(({ seq }) => seq)).toContain(2);
  });

  test('a search of a view reads lists through its edits', async () => {
    await using story = await studioStory(kind);
    const { session } = story;
    await session.fork('main', {
      name: 'other',
      edits: [{ kind: 'message', seq: 2, message: { role: 'user', content: 'Order 8 broke.' } }],
    });
    const { head } = await session.branch('other').locate();
    const seqsOf = async (text: string): Promise<readonly Seq[]> => {
      const found = await searchEvents(session, { branch: 'other', seq: head, text, filter: {}, isRaw: false });
      return found.hits.map(({ seq }) => seq);
    };
    expect([await seqsOf('order 8'), await seqsOf('order 7')]).toEqual([[3, 8, head], [1]]);
  });

  test('pages end at "shownRowsMax", "searchHitsMax", "searchEventsMax" and "causesShownMax"', async () => {
    await using story = await studioStory(kind, []);
    const { session } = story;
    const value = (count: number): EventDraft => ({
      type: 'state.committed',
      id: `c-${count}`,
      ...(count === 1 ? {} : { cause: `c-${count - 1}` }),
      data: { operations: [{ agent: 'a', key: 'k', op: 'write', value: count, version: count }] },
    });
    const total = limits.searchEventsMax + 1;
    await session.append(Array.from({ length: total }, (_, index) => value(index + 1)));
    const page = await readChanges(session, state, { ...at(total), path: '/a/k/value' });
    expect([page.changes.length, page.next]).toEqual([limits.shownRowsMax, limits.shownRowsMax]);
    const search = { ...at(total), text: 'write', filter: {}, isRaw: true };
    expect((await searchEvents(session, search)).next).toBe(limits.searchHitsMax);
    expect((await searchEvents(session, { ...search, text: 'nowhere' })).searched).toBe(limits.searchEventsMax);
    const causes = await causesOf(session, 'main', 1_000 as Seq);
    expect([causes.causes.length, causes.consequences.length, causes.hasMore]).toEqual([
      limits.causesShownMax,
      limits.causesShownMax,
      true,
    ]);
  });

  test('two branches side by side, several as a table, and all as a tree', async () => {
    await using story = await studioStory(kind);
    const { session, reprise } = story;
    await session.fork('main@7', {
      name: 'careful',
      reason: 'too much',
      edits: [{ kind: 'state', key: 'amount', agent: 'support', value: 50 }],
    });
    const compared = await compareViews(
      reprise,
      { left: 'demo', right: 'demo/careful' },
      { states: [named('state').projection] },
    );
    expect(compared.answer).toMatchObject({ identical: false, forkPoint: { seq: 7 }, left: { branch: 'main' } });
    expect(Object.keys(compared.answer.states)).toEqual(['state']);
    const { pairs, next } = await comparedPage(compared, 0);
    expect(next).toBeUndefined();
    expect(pairs[0]).toEqual({ kind: 'equal', count: 6, left: [2, 7], right: [2, 7] });
    const sides = pairs
      .slice(1)
      .map((pair) => (pair.kind === 'equal' ? '=' : `${pair.left?.seq ?? '-'}|${pair.right?.seq ?? '-'}`));
    expect(sides).toEqual(expect.arrayContaining(['8|-', '9|-', '10|-']));
    const rows = await compareTable(reprise, ['demo', 'demo/careful']);
    expect(rows.map(({ branch, outcome, identical }) => [branch, outcome, identical])).toEqual([
      ['main', 'error', true],
      ['careful', 'silent', false],
    ]);
    await expect(compareTable(reprise, ['demo'])).rejects.toMatchObject({ code: 'option.invalid' });
    const refs = Array.from({ length: limits.comparedRefsMax + 1 }, () => 'demo');
    await expect(compareTable(reprise, refs)).rejects.toMatchObject({ code: 'limit.exceeded' });
    const { branches } = await branchPage(session, {});
    expect(branches.map(({ branch, depth, reason, parent }) => [branch, depth, reason, parent?.seq])).toEqual([
      ['main', 0, null, undefined],
      ['careful', 1, 'too much', 7],
    ]);
    expect((await branchPage(session, { after: 'main' })).branches.map(({ branch }) => branch)).toEqual(['careful']);
  });

  test('sessions, newest first, by page and by filter', async () => {
    await using story = await studioStory(kind);
    const { reprise } = story;
    for (const id of ['a', 'b']) await (await reprise.createSession(id)).append(note(id));
    const first = await sessionPage(reprise, { limit: 2 });
    const second = await sessionPage(reprise, { limit: 2, cursor: first.next });
    expect([...first.rows, ...second.rows].map(({ session }) => session).sort()).toEqual(['a', 'b', 'demo']);
    expect(second.next).toBeUndefined();
    const [demo] = (await sessionPage(reprise, { filter: { outcome: 'error', agent: 'support', text: 'refund' } }))
      .rows;
    expect(demo).toMatchObject({ session: 'demo', title: 'Refund of order 7', branches: 1, head: 10, events: 10 });
    expect(demo?.activity).toMatchObject({ firstError: 9 });
    expect(demo?.activity.events.reduce((sum, count) => sum + count, 0)).toBe(10);
    await expect(sessionPage(reprise, { filter: { ouctome: 'x' } as never })).rejects.toMatchObject({
      code: 'option.invalid',
    });
    await expect(sessionPage(reprise, { cursor: '{' })).rejects.toMatchObject({ code: 'option.invalid' });
  });

  test('sessions whose events are older than those of others are on one page each, and new ones since', async () => {
    await using story = await studioStory(kind);
    const { reprise } = story;
    const times = {
      today: new Date().toISOString(),
      imported: '2020-01-01T00:00:00.000Z',
      ahead: '2999-01-01T00:00:00.000Z',
    };
    for (const [id, time] of Object.entries(times))
      await (await reprise.createSession(id)).append({ ...note(id), time });
    const seen: string[] = [];
    let cursor: string | undefined = '';
    for (let pages = 0; cursor !== undefined && pages < 9; pages++) {
      const page = await sessionPage(reprise, { limit: 1, cursor });
      seen.push(...page.rows.map(({ session }) => session));
      cursor = page.next;
    }
    expect(seen).toEqual(['ahead', 'imported', 'today', 'demo']);
    // All of them were made since then, whatever the times of their events are.
    const since = new Date(Date.now() - 3_600_000).toISOString();
    const recent = await sessionPage(reprise, { filter: { since } });
    expect(recent.rows.map(({ session }) => session)).toEqual(['ahead', 'imported', 'today', 'demo']);
    const ahead = await sessionPage(reprise, { filter: { since: '2998-01-01T00:00:00.000Z' }, limit: 1 });
    expect(ahead.rows.map(({ session }) => session)).toEqual(['ahead']);
    const old = await sessionPage(reprise, { filter: { until: '2021-01-01T00:00:00.000Z' } });
    expect(old.rows.map(({ session }) => session)).toEqual(['imported']);
  });

  test('a preview says what edits and changes would take out, and writes nothing', async () => {
    await using story = await studioStory(kind);
    const { session } = story;
    const dropped = await previewEdits(session, { ...at(9), edits: [{ kind: 'drop', seq: 5 }] });
    expect(dropped.gone.map(({ seq }) => seq)).toEqual([5, 6]);
    expect(dropped.dependents.map(({ seq }) => seq)).toEqual([8]);
    expect(dropped.refused).toBeNull();
    const refused = await previewEdits(session, {
      ...at(9),
      edits: [
        { kind: 'system', text: 'Be brief.' },
        { kind: 'drop', seq: 99 },
      ],
    });
    expect(refused.refused).toMatchObject({ edit: 1, error: { code: 'event.not-found' } });
    const foreseen = await previewEdits(session, { ...at(2), edits: [] });
    expect(foreseen.calls.map(({ name, fate }) => [name, fate])).toEqual([['lookup', 'made']]);
    const rewound = await previewChange(session, { ...at(7), change: 'rewind' });
    expect(rewound.gone.map(({ seq }) => seq)).toEqual([8, 9, 10]);
    const reverted = await previewChange(session, { ...at(5), change: 'revert' });
    expect([reverted.gone.map(({ seq }) => seq), reverted.dependents.map(({ seq }) => seq)]).toEqual([[5, 6], [8]]);
    await expect(previewChange(session, { ...at(10), change: 'redo' })).rejects.toMatchObject({ code: 'redo.nothing' });
    const erased = await previewChange(session, { ...at(2), change: 'erase', options: { reason: 'personal' } });
    expect(erased.gone.map(({ seq }) => seq)).toContain(2);
    expect((await session.locate()).head).toBe(10);
    await session.rewind(7);
    const redone = await previewChange(session, { ...at(11), change: 'redo' });
    expect(redone.restored.map(({ seq }) => seq)).toEqual([8, 9, 10]);
    expect((await session.locate()).head).toBe(11);
  });
});
