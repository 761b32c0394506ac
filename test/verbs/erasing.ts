import assert from 'node:assert/strict';
import { conversation } from '../../src/projections/conversation.ts';
import { all, note, onSession, refuses, said, type VerbCase } from './verb-case.ts';

const secret = 'My card number is 4111 1111 1111 1111.';

/** The cases of `session.erase`. */
export const erase: readonly VerbCase[] = [
  onSession('erase() forgets a payload; the chain still verifies and what is left says so', async (session) => {
    await session.append([note('before the secret came'), note(secret), note('after the secret came')]);
    const { digest } = await session.at('main@2').locate();
    const erased = await session.erase('main@2', { reason: 'personal data', agent: 'ann' });
    assert.deepEqual(erased.events, [{ session: 'demo', branch: 'main', seq: 2 }]);
    assert.deepEqual([erased.marker?.type, erased.undone, erased.restored], ['payload.erased', [], []]);
    const events = await all(session.replay());
    assert.deepEqual(events[1]?.data, { erased: true });
    assert.equal(events[1]?.erased, true);
    assert.equal((await session.at('main@2').locate()).digest, digest);
    assert.equal((await session.verify()).ok, true);
    const [marker] = await all(session.replay({ history: 'raw', filter: { types: ['payload.erased'] } }));
    assert.deepEqual([marker?.agent, marker?.data['reason'], marker?.data['seqs']], ['ann', 'personal data', [2]]);
    assert.ok(!JSON.stringify(await session.toJSON()).includes('4111 1111'));
  }),

  onSession(
    'erase() forgets the same content everywhere in the session: other branches, lists, answers and raw bodies',
    async (session) => {
      const message = { role: 'user', content: secret };
      const long = { role: 'user', content: `${secret} ${'and so on '.repeat(80)}` };
      const call = (id: string, messages: unknown[], body: string) => ({
        type: 'call.started',
        run: 'r',
        data: { call: id, kind: 'model', name: 'm', request: { messages, body } },
      });
      await session.append({ type: 'message.added', data: { message } });
      await session.append(
        call(
          'm1',
          [{ role: 'system', content: 'be kind' }, message],
          JSON.stringify({ messages: [message], model: 'm', pad: 'x'.repeat(800) }),
        ) as never,
      );
      await session.append(
        call(
          'm2',
          [{ role: 'system', content: 'be kind' }, message, { role: 'assistant', content: 'I see.' }, long],
          JSON.stringify({ messages: [message, 'I see.'], model: 'm', pad: 'x'.repeat(800) }),
        ) as never,
      );
      await session.append(
        call(
          'm3',
          [{ role: 'user', content: 'Hello' }],
          JSON.stringify({ model: 'm', pad: 'x'.repeat(800), other: 1 }),
        ) as never,
      );
      const branch = await session.fork('main@1', { name: 'x' });
      await branch.append(note(`quoted: ${secret}`));
      const planned = await session.erase('main@1', { dryRun: true });
      const erased = await session.erase('main@1');
      assert.deepEqual(planned.events, erased.events);
      const dump = JSON.stringify(await session.toJSON());
      assert.ok(!dump.includes('4111 1111'), 'the secret is gone from every event');
      assert.ok(
        dump.includes('be kind') && dump.includes('I see.') && dump.includes('Hello'),
        'the rest of the lists is there',
      );
      for (const at of ['main', 'x']) assert.equal((await session.at(at).verify()).ok, true, at);
      const seen = await session.at('main@3').fold(conversation);
      assert.ok(seen.messages.length > 0);
      const [third] = await all(
        session.replay({ filter: { types: ['call.started'], fields: [{ key: 'call', pattern: 'm3' }] } }),
      );
      assert.match(JSON.stringify(third?.data), /\\"other\\":1/, 'a body whose base went is whole');
    },
  ),

  onSession('erase() finds text with line breaks and quotes in every form it was stored in', async (session) => {
    const said = 'I am "Kim".\nI live in Grünerløkka 7/b,\tOslo.';
    const line = 'I am "Kim". I live in Grünerløkka 7/b, Oslo.';
    const source = JSON.stringify({ type: 'run_started', payload: { prompt: said } });
    // As other programs write it: only ASCII, and slashes escaped.
    const escaped = JSON.stringify({ prompt: said })
      .replace(/[\u0080-\uffff]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .replaceAll('/', '\\/');
    const body = (text: string) => ({
      type: 'call.started',
      run: 'r',
      data: { call: 'm', kind: 'model', name: 'm', request: { body: text } },
    });
    await session.append({ type: 'message.added', data: { message: { role: 'user', content: said } } });
    await session.append({
      type: 'run.started',
      data: { title: line, foreign: { type: 'run_started', text: source } },
    });
    await session.append({ type: 'run.started', data: { title: `${line.slice(0, 20)}…` } });
    await session.append(note(`quoted: ${said}`));
    await session.append({ type: 'run.ended', data: { outcome: 'ok', result: JSON.stringify({ inner: source }) } });
    await session.append([body(said), body(source), body(JSON.stringify({ inner: source })), body(escaped)] as never);
    await session.append(note('untouched, and about somebody else'));
    await session.erase('main@1');
    const dump = JSON.stringify(await session.toJSON());
    assert.doesNotMatch(dump, /Kim|Oslo|Gr(ü|\\+u00fc)nerl/);
    assert.match(dump, /untouched, and about somebody else/);
    assert.equal((await session.verify()).ok, true);
  }),

  onSession('erase() finds a short text inside JSON inside a string, as a whole string only', async (session) => {
    await session.append(note('Bergen'));
    await session.append([note('{"city":"Bergen"}'), note('{"city":"Bergen, Norway"}')]);
    const { events } = await session.erase('main@1');
    assert.deepEqual(
      events.map(({ seq }) => seq),
      [1, 2],
    );
  }),

  onSession('erase() does not search for names: topics, scopes, tools, models', async (session) => {
    const topic = 'customer-refund-policy';
    const tools = [{ name: 'look_up_customer_record', description: 'Finds the record of one customer by number' }];
    const messages = [{ role: 'user', content: 'Where is my refund, please?' }];
    const call = (id: string) => ({ call: id, kind: 'model', name: 'm', request: { messages, tools } });
    await session.append({ type: 'belief.committed', data: { claim: 'Kim was born on 3 May 1990', topic } });
    await session.append({ type: 'belief.committed', data: { claim: 'Refunds take ten days', topic } });
    await session.append({ type: 'agent.spawned', agent: 'a', data: { scope: [topic], model: 'large-model-2026-11' } });
    await session.append({ type: 'belief.superseded', data: { belief: 'x', topic } });
    const erased = await session.erase('main@1');
    assert.deepEqual(
      erased.events.map(({ seq }) => seq),
      [1],
    );
    // The erased belief is still found under its topic.
    assert.deepEqual(erased.marker?.data['keys'], { '1': [`topic\u0001\u0001${topic}`] });
    await session.append({ type: 'call.started', run: 'r', data: call('c1') as never });
    await session.append({
      type: 'call.started',
      data: { call: 'c2', kind: 'tool', name: 'look_up_customer_record', input: { customer: 7 } },
    });
    await session.append({ type: 'settings.changed', data: { model: 'large-model-2026-11' } });
    assert.deepEqual(
      (await session.erase('main@6')).events.map(({ seq }) => seq),
      [6],
    );
    assert.deepEqual(
      (await session.erase('main@8')).events.map(({ seq }) => seq),
      [8],
    );
  }),

  onSession(
    'erase() with onlyIdle is refused while a run has not ended: its agent could bring it back',
    async (session) => {
      await session.append({ type: 'run.started', run: 'r', data: {} });
      await session.append(note(secret));
      await refuses('erase.running', () => session.erase('main@2', { onlyIdle: true }));
      await session.fork('main@1', { name: 'inside' });
      await session.append({ type: 'run.ended', run: 'r', data: { outcome: 'ok' } });
      const { events, remains } = await session.erase('main@2', { onlyIdle: true });
      assert.deepEqual([events.length, remains], [1, []]);
    },
  ),

  onSession('erase() is refused on structural events, on nothing and a second time', async (session) => {
    await session.append([note('a long enough note'), note('b')]);
    await session.revert(2);
    await refuses('event.structural', () => session.erase('main@3'));
    await refuses('event.not-found', () => session.erase('main@0'));
    await session.erase('main@1');
    await refuses('event.erased', () => session.erase('main@1'));
  }),

  onSession(
    'erase() leaves other sessions alone unless told otherwise, and never another namespace',
    async (session, reprise) => {
      const other = await reprise.createSession('other');
      const far = await reprise.namespace('far').createSession('demo');
      for (const held of [session, other, far]) await held.append(note(secret));
      await session.erase('main@1');
      assert.equal(await said(other.replay()), secret);
      await session.append(note(secret));
      const { events } = await session.erase('main@3', { everywhere: true });
      assert.deepEqual(events.map((event) => event.session).sort(), ['demo', 'other']);
      assert.equal(await said(other.replay()), '✕');
      assert.equal(await said(far.replay()), secret);
    },
  ),

  onSession('erase() of a branch before its fork point shows in the child, which still verifies', async (session) => {
    await session.append([note(secret), note('fine')]);
    const child = await session.fork('main@2', { name: 'x' });
    await child.append(note('more'));
    await session.erase('x@1');
    assert.equal(await said(child.replay()), '✕finemore');
    assert.equal((await child.verify()).ok, true);
  }),

  onSession('erase() forgets what a replacement carries', async (session) => {
    await session.append([note('harmless text here'), note(secret)]);
    await session.edit({ kind: 'replace', seq: 1, event: { data: { text: secret } } });
    await session.erase('main@2');
    assert.equal(await said(session.replay()), '✕✕');
    assert.ok(!JSON.stringify(await session.toJSON()).includes('4111 1111'));
    assert.equal((await session.verify()).ok, true);
  }),

  onSession('erase() says how to forget what only a marker carries, and that works', async (session) => {
    await session.append([note('harmless text here'), note('more of it')]);
    const long = { role: 'user', content: `${secret} ${'and so on '.repeat(80)}` };
    await session.edit([
      { kind: 'replace', seq: 1, event: { data: { text: secret } } },
      { kind: 'insert', after: 2, event: { type: 'message.added', data: { message: long } } },
    ]);
    const error = await refuses('event.structural', () => session.erase('main@3'));
    assert.match(error.hint ?? '', /append an ordinary event with the same content and erase that one/);
    await session.append(note(secret));
    await session.erase('main@5');
    assert.equal(await said(session.replay()), '✕more of it✕✕');
    assert.ok(!JSON.stringify(await session.toJSON()).includes('4111 1111'));
    assert.equal((await session.verify()).ok, true);
  }),

  onSession(
    'erase() keeps an erased state key findable, so that no older value is given in its place',
    async (session) => {
      const write = (value: string, version: number) => ({
        type: 'state.committed',
        data: { operations: [{ agent: 'default', key: 'card', op: 'write', value, version }] },
      });
      await session.append([write('none yet, for sure', 1), write(secret, 2)]);
      await session.erase('main@2');
      const { marker } = await session.edit({ kind: 'state', key: 'other', value: 1 });
      assert.equal(marker.type, 'state.committed');
      const [erased] = await all(session.replay({ history: 'raw', filter: { types: ['payload.erased'] } }));
      assert.equal(Object.keys((erased?.data['keys'] ?? {}) as object).length, 1);
    },
  ),

  onSession('erase() forgets metadata also where forks took it over, and leaves the rest of it', async (session) => {
    await session.setMetadata({ customer: secret, owner: 'support', try: 1 });
    const first = await session.fork('main', { name: 'x', metadata: { $note: { about: secret }, keep: 'this one' } });
    await session.fork(first.name, { name: 'y' });
    const before = await session.at('y').locate();
    const planned = await session.erase('main@1', { dryRun: true });
    const erased = await session.erase('main@1');
    assert.equal(planned.parts.length, erased.parts.length);
    assert.deepEqual(erased.markers.map(({ branch }) => branch).sort(), ['main', 'x', 'y']);
    const hole = { erased: true };
    for (const name of ['x', 'y'])
      assert.deepEqual(await session.branch(name).metadata(), {
        customer: hole,
        owner: hole,
        try: 1,
        $note: hole,
        keep: 'this one',
      });
    assert.deepEqual(await session.metadata(), {});
    assert.ok(!JSON.stringify(await session.toJSON()).includes('4111 1111'));
    for (const at of ['main', 'x', 'y']) assert.equal((await session.at(at).verify()).ok, true);
    assert.equal((await session.at('y').verify({ head: before.digest })).ok, true);
    const third = await session.fork('y', { name: 'z', metadata: { customer: 'someone' } });
    assert.equal((await session.branch(third.name).metadata())['customer'], 'someone');
  }),

  onSession('erase() forgets a reason that quotes the content, and refuses to give one', async (session) => {
    await session.append([note('before the secret came'), note(secret)]);
    await session.revert(1, { reason: `It came before: ${secret}` });
    const branch = await session.fork('main', { name: 'x', reason: secret });
    const error = await refuses('edit.invalid', () => session.erase('main@2', { reason: `said "${secret}"` }));
    assert.match(error.message, /the reason quotes the content to erase/);
    await session.erase('main@2', { reason: 'personal data' });
    assert.ok(!JSON.stringify(await session.toJSON()).includes('4111 1111'));
    const raw = await all(session.replay({ history: 'raw' }));
    assert.deepEqual(
      raw.map((event) => event.data['reason'] ?? null),
      [null, null, { erased: true }, 'personal data'],
    );
    assert.deepEqual([await said(session.replay()), await said(branch.replay())], ['✕', '✕']);
    await session.redo();
    assert.equal(await said(session.replay()), 'before the secret came✕');
    for (const at of ['main', 'x']) assert.equal((await session.at(at).verify()).ok, true);
    await refuses('event.structural', () => session.erase('x@4'));
  }),
];
