// Your own projection: a pure fold over history. You get any moment, any branch and any "what if" for free.
import { defineProjection, type EventDraft, openReprise } from 'reprise';

/** How often each tool was called, and how often it failed. */
const toolUse = defineProjection<Record<string, { calls: number; failures: number }>>({
  name: 'tool-use',
  version: '1', // change it when you change the fold: snapshots of an older version are not used
  history: 'view',
  initial: () => ({}),
  apply: (value, event) => {
    // A payload may have been erased; a fold must accept every event.
    if (event.type !== 'call.ended' || event.erased === true || event.data['kind'] !== 'tool') return value;
    const used = (value[String(event.data['name'])] ??= { calls: 0, failures: 0 });
    used.calls++;
    if (event.data['outcome'] !== 'ok') used.failures++;
    return value;
  },
});

await using reprise = await openReprise('memory:');
const session = await reprise.createSession('build');
const call = (id: string, name: string, outcome: string): EventDraft[] => [
  { type: 'call.started', data: { call: id, kind: 'tool', name } },
  { type: 'call.ended', data: { call: id, kind: 'tool', name, outcome } },
];
await session.append([
  ...call('1', 'edit', 'ok'),
  ...call('2', 'test', 'error'),
  ...call('3', 'edit', 'ok'),
  ...call('4', 'test', 'error'),
  ...call('5', 'edit', 'ok'),
  ...call('6', 'test', 'ok'),
]);

console.log('at the end:      ', JSON.stringify(await session.fold(toolUse)));
console.log('after four:      ', JSON.stringify(await session.at('main@4').fold(toolUse)));
console.log('without call 4:  ', JSON.stringify(await session.fold(toolUse, { exclude: [7] })));

const { diff } = await session.counterfactual(toolUse, {
  edits: [{ kind: 'toolResult', call: '2', output: null, outcome: 'ok' }],
});
console.log('had call 2 been fine:', JSON.stringify(diff.changed));

// A revert changes the view and the value of the projection. The point before it stays the same.
await session.revert(12);
console.log('without the last:', JSON.stringify(await session.fold(toolUse)));
console.log('main@12 still:   ', JSON.stringify(await session.at('main@12').fold(toolUse)));
