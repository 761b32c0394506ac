// Diff: what changed between two histories, and where they part. Clocks, ids and latencies do not count.
import { type EventDraft, openReprise, strictDiffLines } from 'reprise';

await using reprise = await openReprise('memory:');
const session = await reprise.createSession('refund');

/** A tool call as its two events. */
const call = (id: string, name: string, input: object, output: object): EventDraft[] => [
  { type: 'call.started', data: { call: id, kind: 'tool', name, input: { ...input } } },
  { type: 'call.ended', data: { call: id, kind: 'tool', name, outcome: 'ok', output: { ...output } } },
];

await session.append([
  { type: 'goal.set', data: { goal: 'Refund order 7' } },
  ...call('a1', 'refund', { order: 7, amount: 500 }, { refunded: 500 }),
  ...call('a2', 'notify', { order: 7 }, { sent: true }),
  { type: 'run.ended', data: { outcome: 'ok', result: 'Refunded 500.' } },
]);
const branch = await session.fork('main@1', { name: 'careful' });
await branch.append([
  ...call('b1', 'lookUp', { order: 7 }, { paid: 50 }),
  ...call('b2', 'refund', { order: 7, amount: 50 }, { refunded: 50 }),
  ...call('b3', 'notify', { order: 7 }, { sent: true }),
  { type: 'run.ended', data: { outcome: 'ok', result: 'Refunded 50.' } },
]);

const diff = await reprise.diff('refund', 'refund/careful', { sustainedEvents: 2 });
for (const pair of diff.pairs) {
  if (pair.kind === 'equal') console.log(`    ${pair.type}`);
  else if (pair.kind === 'onlyLeft') console.log(`  - ${pair.type} (main@${pair.left})`);
  else if (pair.kind === 'onlyRight') console.log(`  + ${pair.type} (careful@${pair.right})`);
  else
    for (const { path, left, right } of pair.fields?.changed ?? [])
      console.log(`  ~ ${pair.type} ${path.join('.')}: ${JSON.stringify(left)} -> ${JSON.stringify(right)}`);
}
console.log(`\nthey share everything up to ${diff.forkPoint?.branch}@${diff.forkPoint?.seq}`);
console.log(`first difference: left ${diff.divergedAt?.left}, right ${diff.divergedAt?.right}`);
console.log(
  `together again: ${diff.reconvergedAt.map(({ left, right }) => `left ${left}, right ${right}`).join('; ')}`,
);

const strict = await reprise.diff('refund', 'refund/careful', { strict: true });
console.log(`\n${strictDiffLines(strict, 8).join('\n')}`);
