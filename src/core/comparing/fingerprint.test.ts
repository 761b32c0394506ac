import { hash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalJson } from '../canonical-json.ts';
import type { RepriseError } from '../error.ts';
import { type Event, erasedData } from '../event/event.ts';
import type { JsonObject } from '../json.ts';
import type { Digest, Seq } from '../point.ts';
import { compareFingerprints, createFingerprint, type FingerprintState } from './fingerprint.ts';

const sha256 = (text: string): Digest => hash('sha256', text, 'hex') as Digest;

let made = 0;
function event(type: string, data: JsonObject, more: Partial<Event> = {}): Event {
  made++;
  return {
    session: 's',
    branch: 'main',
    seq: made as Seq,
    id: `id-${made}`,
    time: new Date(made * 1000).toISOString(),
    type,
    version: 1,
    agent: 'a',
    run: 'r1',
    turn: made,
    data,
    digest: '' as Digest,
    ...more,
  };
}

function fingerprint(events: readonly Event[]): string {
  const fold = createFingerprint(sha256);
  return fold.finish(events.reduce((state, one) => fold.apply(state, one), fold.initial()));
}

const note = (text: string, more: Partial<Event> = {}): Event => event('note.added', { text }, more);
const started = (call: string, name = 'refund', more: Partial<Event> = {}): Event =>
  event('call.started', { call, kind: 'tool', name, input: { order: 7 } }, more);
const ended = (call: string, output: string, more: Partial<Event> = {}): Event =>
  event('call.ended', { call, kind: 'tool', name: 'refund', outcome: 'ok', output, latencyMs: made }, more);

describe('what does not count', () => {
  test('clocks, turns, ids, latencies, provider ids and metadata', () => {
    const left = [note('a'), started('c1'), ended('c1', 'x')];
    const right = [
      event('metadata.changed', { set: { owner: 'me' } }),
      note('a', { turn: 99, version: 1, session: 'other', branch: 'b' }),
      started('call-9', 'refund', { time: '2030-01-01T00:00:00.000Z' }),
      event('turn.started', { title: 'x' }),
      event('call.ended', {
        call: 'call-9',
        kind: 'tool',
        name: 'refund',
        outcome: 'ok',
        output: 'x',
        latencyMs: 999,
        usage: { inputTokens: 5 },
        provider: { id: 'resp-1' },
      }),
    ];
    expect(fingerprint(right)).toBe(fingerprint(left));
  });

  test('structural events', () => {
    const forked = event('branch.forked', { parent: { seq: 1, digest: 'x' } });
    expect(fingerprint([note('a'), forked])).toBe(fingerprint([note('a')]));
  });

  test('ids that a provider gave to tool calls, and its metadata in messages', () => {
    const told = (id: string, meta: string): Event[] => {
      const asked = {
        role: 'assistant',
        content: [{ type: 'tool-call', toolCallId: id, toolName: 't', input: {} }],
        id: meta,
      };
      const answer = {
        role: 'tool',
        content: [{ type: 'tool-result', toolCallId: id, toolName: 't', output: 1, providerOptions: { meta } }],
      };
      return [
        event('message.added', { message: asked }),
        event('call.started', { call: meta, kind: 'model', name: 'm', request: { messages: [asked, answer] } }),
      ];
    };
    expect(fingerprint(told('toolu_1', 'x'))).toBe(fingerprint(told('toolu_2', 'y')));
  });

  test('the fingerprint that the end of a run carries', () => {
    const end = (value: string): Event => event('run.ended', { outcome: 'ok', fingerprint: value });
    expect(fingerprint([note('a'), end('rf1:1')])).toBe(fingerprint([note('a'), end('rf1:2')]));
  });
});

describe('what counts', () => {
  const base = (): Event[] => [note('a'), started('c1'), started('c2'), ended('c1', 'x'), ended('c2', 'x')];

  test('which call an answer belongs to', () => {
    const crossed = [note('a'), started('c1'), started('c2'), ended('c2', 'x'), ended('c1', 'x')];
    expect(fingerprint(crossed)).not.toBe(fingerprint(base()));
  });

  test('who acted', () => {
    expect(fingerprint([note('a', { agent: 'b' })])).not.toBe(fingerprint([note('a')]));
  });

  test('what led to an event', () => {
    const linked = (cause: number): Event[] => {
      const [one, two] = [note('a'), note('b')];
      return [one, two, note('c', { cause: [one, two][cause]?.id ?? '' })];
    };
    expect(fingerprint(linked(0))).not.toBe(fingerprint(linked(1)));
    expect(fingerprint(linked(0))).toBe(fingerprint(linked(0)));
  });

  test('how a run ended', () => {
    const end = (outcome: string): Event => event('run.ended', { outcome });
    expect(fingerprint([note('a'), end('ok')])).not.toBe(fingerprint([note('a'), end('error')]));
  });

  test('all data of a type that Reprise does not know', () => {
    expect(fingerprint([event('my.happened', { x: 1 })])).not.toBe(fingerprint([event('my.happened', { x: 2 })]));
  });

  test('which tool call a result in a list answers', () => {
    const asks = ['p', 'q'].map((id) => ({
      role: 'assistant',
      content: [{ type: 'tool-call', toolCallId: id, toolName: 't', input: {} }],
    }));
    const list = (id: string): Event[] => [
      event('call.started', {
        call: 'c',
        kind: 'model',
        name: 'm',
        request: {
          messages: [
            ...asks,
            { role: 'tool', content: [{ type: 'tool-result', toolCallId: id, toolName: 't', output: 1 }] },
          ],
        },
      }),
    ];
    expect(fingerprint(list('p'))).not.toBe(fingerprint(list('q')));
  });

  test('an erasure, and the state says so', () => {
    const fold = createFingerprint(sha256);
    const erased = [note('a'), { ...note('b'), data: erasedData, erased: true as const }];
    const state = erased.reduce((value, one) => fold.apply(value, one), fold.initial());
    expect(state).toMatchObject({ events: 2, erased: 1 });
    expect(fold.finish(state)).not.toBe(fingerprint([note('a'), note('b')]));
  });
});

describe('a fork that behaved the same is the same', () => {
  const tail = (run: string): Event[] => [
    started('c2', 'refund', { run }),
    ended('c2', 'y', { run }),
    event('run.ended', { outcome: 'ok', result: 'done' }, { run }),
  ];
  const head = (): Event[] => [event('run.started', { title: 'x' }), note('a'), started('c1'), ended('c1', 'x')];
  const original = (): Event[] => [...head(), ...tail('r1')];

  test('when the run was still going on at the fork', () => {
    const resumed = event('run.started', { resumed: { by: 'me' } }, { run: 'r2' });
    expect(fingerprint([...head(), resumed, ...tail('r2')])).toBe(fingerprint(original()));
  });

  test('when the run had been interrupted', () => {
    const cut = event('run.ended', { outcome: 'interrupted' });
    const resumed = event('run.started', { resumed: {} }, { run: 'r2' });
    expect(fingerprint([...head(), cut, resumed, ...tail('r2')])).toBe(fingerprint(original()));
    expect(fingerprint([...head(), cut])).not.toBe(fingerprint(head()));
  });

  test('when the resumed run is named and another one is going on', () => {
    const other = [event('run.started', {}, { run: 'r9' }), note('z', { run: 'r9' })];
    const resumed = event('run.started', { resumed: { run: 'r1' } }, { run: 'r2' });
    expect(fingerprint([...head(), ...other, resumed, ...tail('r2')])).toBe(fingerprint([...other, ...original()]));
  });

  test('and not when it behaved differently', () => {
    const resumed = event('run.started', { resumed: {} }, { run: 'r2' });
    expect(fingerprint([...head(), resumed, note('more', { run: 'r2' }), ...tail('r2')])).not.toBe(
      fingerprint(original()),
    );
  });
});

type Act =
  | { readonly kind: 'note'; readonly text: string; readonly isReply: boolean }
  | { readonly kind: 'call'; readonly name: string; readonly output: string }
  | { readonly kind: 'claim'; readonly task: number; readonly cause: boolean };

interface Line {
  readonly agent: string;
  readonly acts: readonly Act[];
}

const act: fc.Arbitrary<Act> = fc.oneof(
  fc.record({ kind: fc.constant('note' as const), text: fc.constantFrom('x', 'y', 'z'), isReply: fc.boolean() }),
  fc.record({ kind: fc.constant('call' as const), name: fc.constantFrom('t', 'u'), output: fc.constantFrom('1', '2') }),
  fc.record({ kind: fc.constant('claim' as const), task: fc.integer({ min: 0, max: 2 }), cause: fc.boolean() }),
);
const lines: fc.Arbitrary<readonly Line[]> = fc.array(
  fc.record({ agent: fc.constantFrom('a', 'b'), acts: fc.array(act, { maxLength: 5 }) }),
  { minLength: 1, maxLength: 4 },
);

/** The same story told with other ids and clocks, its lanes interleaved by a list of choices. */
function tell(story: readonly Line[], salt: string, choices: readonly number[]): Event[] {
  const boss = [0, 1, 2].map((task) =>
    event('task.started', { task: `${salt}-task-${task}`, title: `t${task}` }, { agent: 'boss', run: `${salt}-boss` }),
  );
  const queues = story.map((line, index) => actsOf(line, `${salt}-${index}`, salt, boss));
  const told = [...boss];
  for (let turn = 0; queues.some((queue) => queue.length > 0); turn++) {
    const waiting = queues.filter((queue) => queue.length > 0);
    told.push((waiting[(choices[turn % choices.length] ?? 0) % waiting.length] as Event[]).shift() as Event);
  }
  return told.map((one, index) => ({ ...one, id: idOf(one, salt), seq: (index + 1) as Seq, ...causeOf(one, salt) }));
}

const idOf = (one: Event, salt: string): string => `${salt}-${one.id}`;
const causeOf = (one: Event, salt: string): Partial<Event> =>
  one.cause === undefined ? {} : { cause: `${salt}-${one.cause}` };

function actsOf({ agent, acts }: Line, run: string, salt: string, boss: readonly Event[]): Event[] {
  const of = { agent, run };
  const done: Event[] = [];
  for (const [index, one] of acts.entries()) {
    const last = done.at(-1);
    if (one.kind === 'note') done.push(note(one.text, { ...of, ...(one.isReply && last ? { cause: last.id } : {}) }));
    else if (one.kind === 'call') {
      const call = started(`${run}-${index}`, one.name, of);
      done.push(call, ended(`${run}-${index}`, one.output, { ...of, cause: call.id }));
    } else {
      const cause = one.cause ? { cause: boss[one.task]?.id ?? '' } : {};
      done.push(event('task.claimed', { task: `${salt}-task-${one.task}`, model: 'm' }, { ...of, ...cause }));
    }
  }
  return done;
}

const choices = fc.array(fc.nat(9), { minLength: 1, maxLength: 20 });

describe('laws', () => {
  test('other ids, other clocks and another interleaving give the same fingerprint', () => {
    fc.assert(
      fc.property(lines, choices, choices, (story, first, second) => {
        expect(fingerprint(tell(story, 'p', first))).toBe(fingerprint(tell(story, 'q', second)));
      }),
      { numRuns: 300 },
    );
  });

  test('dropping an event, or editing one, gives another fingerprint', () => {
    fc.assert(
      fc.property(lines, choices, fc.nat(), (story, order, pick) => {
        const told = tell(story, 'p', order);
        const at = pick % told.length;
        expect(fingerprint(told.toSpliced(at, 1))).not.toBe(fingerprint(told));
        const edited = told.with(at, { ...(told[at] as Event), type: 'my.happened', data: { other: true } });
        expect(fingerprint(edited)).not.toBe(fingerprint(told));
      }),
      { numRuns: 300 },
    );
  });

  test('swapping two different events of one lane gives another fingerprint', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom<string>('x', 'y', 'z'), { minLength: 2, maxLength: 6 }),
        fc.nat(),
        (texts, pick) => {
          const at = pick % (texts.length - 1);
          const [one, two] = [texts[at] as string, texts[at + 1] as string];
          fc.pre(one !== two);
          const swapped = texts.with(at, two).with(at + 1, one);
          expect(fingerprint(swapped.map((text) => note(text)))).not.toBe(fingerprint(texts.map((text) => note(text))));
        },
      ),
    );
  });

  test('a state that was stored and read back goes on as if nothing had happened', () => {
    fc.assert(
      fc.property(lines, choices, fc.nat(), (story, order, pick) => {
        const told = tell(story, 'p', order);
        const fold = createFingerprint(sha256);
        let state = fold.initial();
        for (const [index, one] of told.entries()) {
          state = createFingerprint(sha256).apply(state, one);
          if (index === pick % told.length) state = JSON.parse(canonicalJson(state)) as FingerprintState;
        }
        expect(fold.finish(state)).toBe(fingerprint(told));
      }),
    );
  });
});

describe('long lists', () => {
  function talk(turns: number, share: boolean): Event[] {
    const messages: JsonObject[] = [];
    const told: Event[] = [];
    for (let turn = 0; turn < turns; turn++) {
      messages.push({ role: 'user', content: `question ${turn}` });
      const list = share ? [...messages] : (JSON.parse(JSON.stringify(messages)) as JsonObject[]);
      told.push(event('call.started', { call: `c${turn}`, kind: 'model', name: 'm', request: { messages: list } }));
      const answer = {
        role: 'assistant',
        content: [{ type: 'tool-call', toolCallId: `t${turn}`, toolName: 't', input: { turn } }],
      };
      told.push(event('call.ended', { call: `c${turn}`, kind: 'model', name: 'm', outcome: 'ok', message: answer }));
      messages.push(answer, {
        role: 'tool',
        content: [{ type: 'tool-result', toolCallId: `t${turn}`, toolName: 't', output: turn }],
      });
    }
    return told;
  }

  test('give the same whether their items are shared objects or copies', () => {
    expect(fingerprint(talk(20, true))).toBe(fingerprint(talk(20, false)));
  });

  test('give the same whether another list came between or not', () => {
    const [one, two] = [talk(5, true), talk(5, false)];
    const lanes = two.map((held) => ({ ...held, run: 'r2' }));
    const mixed = one.flatMap((held, index) => [held, lanes[index] as Event]);
    expect(fingerprint(mixed)).toBe(fingerprint([...one, ...lanes]));
  });

  test('a list that goes back and on differently is not taken for the one before', () => {
    const user = (content: string): JsonObject => ({ role: 'user', content });
    const [x, y, z] = [user('x'), user('y'), user('z')];
    const asked = (...messages: JsonObject[]): Event =>
      event('call.started', { call: 'c', kind: 'model', name: 'm', request: { messages } });
    const fresh = fingerprint([asked(x, z)]);
    const after = createFingerprint(sha256);
    after.apply(after.initial(), asked(x, y));
    expect(after.finish(after.apply(after.initial(), asked(x, z)))).toBe(fresh);
  });

  test('of a thousand calls cost what they add, not what they repeat', () => {
    const told = talk(1000, true);
    const texts: number[] = [];
    const fold = createFingerprint((text) => {
      texts.push(text.length);
      return sha256(text);
    });
    told.reduce((state, one) => fold.apply(state, one), fold.initial());
    // Every message is hashed once and every event once; growing lists add nothing.
    expect(texts.length).toBeLessThan(3000 + 2 * told.length);
    expect(texts.reduce((sum, length) => sum + length, 0)).toBeLessThan(3_000_000);
  });
});

describe('compareFingerprints()', () => {
  const one = `rf1:${'a'.repeat(64)}`;

  test('tells equal from different', () => {
    expect(compareFingerprints(one, one)).toBe('equal');
    expect(compareFingerprints(one, `rf1:${'b'.repeat(64)}`)).toBe('different');
  });

  test.each(['rf2:abc', 'abc', '', 'rf1:short', `sha256:${'a'.repeat(64)}`])('refuses "%s"', (other) => {
    const compare = (): unknown => compareFingerprints(one, other);
    expect(compare).toThrow(expect.objectContaining({ code: 'fingerprint.other-scheme' }) as RepriseError);
  });

  test('names the other scheme', () => {
    expect(() => compareFingerprints(one, 'rf2:abc')).toThrow(/scheme "rf2"/);
  });
});

test('the fingerprint of a known history never changes', () => {
  const of = { agent: 'support', run: 'run-1' };
  const known = [
    event('run.started', { title: 'Refund' }, of),
    event('message.added', { message: { role: 'user', content: 'Where is my refund?' } }, of),
    event('call.started', { call: 'c7', kind: 'tool', name: 'refund', input: { order: 7 } }, of),
    event('call.ended', { call: 'c7', kind: 'tool', name: 'refund', outcome: 'ok', output: { refunded: true } }, of),
    event('run.ended', { outcome: 'ok', result: 'Refunded.' }, of),
  ];
  expect(fingerprint(known)).toMatchInlineSnapshot(
    `"rf1:cf5f08c1d829d33dd1d000d20ba2259ed60cab95c3b235f051ee198a4494a350"`,
  );
});
