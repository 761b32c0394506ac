import { hash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { eventTypes } from '../event/catalogue.ts';
import { type Event, erasedData } from '../event/event.ts';
import type { JsonObject } from '../json.ts';
import type { Digest, Seq } from '../point.ts';
import { behaviourOf, countsAsBehaviour, createBehaviourText, forgetIds } from './behaviour.ts';

function event(type: string, data: JsonObject, more: Partial<Event> = {}): Event {
  return {
    session: 's',
    branch: 'main',
    seq: 1 as Seq,
    id: 'e1',
    time: '2026-01-01T00:00:00.000Z',
    type,
    version: 1,
    turn: 4,
    data,
    digest: '' as Digest,
    ...more,
  };
}

describe('behaviourOf()', () => {
  test('has the behavioural fields by path, with ids renamed and noise left out', () => {
    const call = event(
      'call.started',
      {
        call: 'c1',
        kind: 'model',
        name: 'm',
        effect: 'pure',
        request: { messages: [], body: 'raw', settings: { temperature: 0 } },
        extra: 1,
      },
      { agent: 'a', cause: 'e0' },
    );
    expect(behaviourOf(call, (kind, id) => `${kind}:${id}`)).toEqual({
      type: 'call.started',
      agent: 'a',
      cause: 'event:e0',
      data: {
        call: 'call:c1',
        kind: 'model',
        name: 'm',
        'request.messages': [],
        'request.settings': { temperature: 0 },
      },
    });
  });

  test('a name of null leaves the cause out', () => {
    expect(behaviourOf(event('note.added', { text: 'x' }, { cause: 'e0' }), forgetIds)).toEqual({
      type: 'note.added',
      data: { text: 'x' },
    });
  });

  test('every id of a list is renamed', () => {
    const found = event('contradiction.detected', { beliefs: ['b1', 'b2'], topic: 't', score: 0.5 });
    expect(behaviourOf(found, (_kind, id) => id.toUpperCase())?.data).toEqual({ beliefs: ['B1', 'B2'], topic: 't' });
  });

  test('a task is a task and a belief is an event', () => {
    const kinds: string[] = [];
    const note = (kind: string): null => {
      kinds.push(kind);
      return null;
    };
    behaviourOf(event('task.claimed', { task: 't' }), note);
    behaviourOf(event('belief.superseded', { belief: 'b', by: 'c' }), note);
    expect(kinds).toEqual(['task', 'event', 'event']);
  });

  test('an erased event says only that', () => {
    expect(behaviourOf(event('note.added', erasedData, { erased: true }), forgetIds)?.data).toEqual({ erased: true });
  });
});

describe('countsAsBehaviour()', () => {
  test('structural events and envelopes do not count; everything else does', () => {
    const silent = Object.keys(eventTypes).filter((type) => !countsAsBehaviour(event(type, {})));
    expect(silent.sort()).toEqual([
      'branch.forked',
      'branch.rewound',
      'event.inserted',
      'event.replaced',
      'event.reverted',
      'graph.wrote',
      'metadata.changed',
      'payload.erased',
      'run.started',
      'source.kept',
      'turn.started',
    ]);
    expect(countsAsBehaviour(event('my.happened', {}))).toBe(true);
  });
});

describe('createBehaviourText()', () => {
  const sha256 = (text: string): Digest => hash('sha256', text, 'hex') as Digest;

  test('a provider-defined tool keeps its id, a message does not', () => {
    const text = createBehaviourText(sha256);
    const call = (tool: JsonObject, message: JsonObject): Event =>
      event('call.started', { call: 'c', kind: 'model', name: 'm', request: { tools: [tool], messages: [message] } });
    const base = text(call({ id: 'web' }, { role: 'user', content: 'x', id: '1' }), forgetIds);
    expect(text(call({ id: 'web' }, { role: 'user', content: 'x', id: '2' }), forgetIds)).toBe(base);
    expect(text(call({ id: 'files' }, { role: 'user', content: 'x', id: '1' }), forgetIds)).not.toBe(base);
  });

  test('an empty list is not a missing one', () => {
    const text = createBehaviourText(sha256);
    const call = (request: JsonObject): Event =>
      event('call.started', { call: 'c', kind: 'model', name: 'm', request });
    expect(text(call({ messages: [] }), forgetIds)).not.toBe(text(call({}), forgetIds));
  });
});
