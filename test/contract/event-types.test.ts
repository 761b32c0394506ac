import { expect, expectTypeOf, test } from 'vitest';
import { type Event, isEvent, openReprise } from '../../src/index.ts';

test('isEvent() narrows the data of an event to its type, and replay({ types }) gives it', async () => {
  await using reprise = await openReprise('memory:');
  const session = await reprise.createSession('s');
  await session.append([
    { type: 'call.started', data: { call: 'c', kind: 'tool', name: 'refund' } },
    { type: 'call.ended', data: { call: 'c', kind: 'tool', name: 'refund', outcome: 'ok', output: 5 } },
    { type: 'ticket.opened', data: { id: 'T-1' } },
  ]);
  const outcomes: string[] = [];
  for await (const { data } of session.replay({ types: ['call.ended'] })) {
    if ('erased' in data) continue;
    outcomes.push(data.outcome);
  }
  expect(outcomes).toEqual(['ok']);
  for await (const event of session.replay({ types: ['call.started', 'call.ended'] })) {
    if (event.erased === true) continue;
    expectTypeOf(event.data.call).toEqualTypeOf<string>();
    if (event.type === 'call.ended') expectTypeOf(event.data.outcome).toEqualTypeOf<string>();
  }
  const own: string[] = [];
  for await (const event of session.replay<'ticket.opened', { 'ticket.opened': { id: string } }>({
    types: ['ticket.opened'],
  }))
    if (event.erased !== true) own.push(event.data.id);
  expect(own).toEqual(['T-1']);
  const found: string[] = [];
  for await (const event of session.replay()) {
    if (isEvent(event, 'call.ended') && event.erased !== true) found.push(event.data.name, event.data.outcome);
    if (isEvent<{ 'ticket.opened': { id: string } }>(event, 'ticket.opened') && event.erased !== true)
      found.push(event.data.id);
    const plain: Event = event;
    expect(plain.seq).toBeGreaterThan(0);
  }
  expect(found).toEqual(['refund', 'ok', 'T-1']);
  await expect(async () => {
    for await (const _ of session.replay({ types: ['call.ended'], filter: { types: ['run.ended'] } }));
  }).rejects.toMatchObject({ code: 'option.invalid' });
});
