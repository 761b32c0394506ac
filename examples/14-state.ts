// State: versioned values under keys, written in transactions, read as they were at any point of any branch.
import { openReprise, type State } from 'reprise';

await using reprise = await openReprise('memory:');
const session = await reprise.createSession('orders');
const stock = session.state.as('stock');

// One commit is one event: both keys or neither.
const { seq, versions } = await stock.transaction((tx) => {
  tx.write('apples', 3);
  tx.write('pears', 1);
});
console.log(`committed at ${seq}:`, versions.map(({ key, version }) => `${key} v${version}`).join(', '));

/** Takes some of a thing. The commit checks what it read; if that has changed, the function runs again. */
function take(state: State, thing: string, count: number): Promise<boolean> {
  return state
    .transaction(async (tx) => {
      const left = Number((await tx.get(thing)).value ?? 0);
      if (left < count) return false;
      tx.write(thing, left - count);
      return true;
    })
    .then(({ result }) => result);
}

// Four customers at once; three apples.
const sold = await Promise.all([1, 2, 3, 4].map(() => take(stock, 'apples', 1)));
console.log('sold:', sold.filter(Boolean).length, 'left:', (await stock.get('apples')).value);

// Every version is there, with its author, time and transaction.
for await (const { version, value, seq: at, by } of stock.history('apples'))
  console.log(`v${version} = ${String(value)} @${at} by ${by}`);

// As it was, and as it would have been.
console.log('at the beginning:', (await session.at(seq).state.as('stock').get('apples')).value);
const branch = await session.fork(`main@${seq}`, {
  name: 'more',
  edits: [{ kind: 'state', agent: 'stock', key: 'apples', value: 10 }],
});
await take(branch.state.as('stock'), 'apples', 4);
for await (const { key, kind, left, right } of stock.diff(branch)) console.log(kind, key, left?.value, right?.value);

// Everything again, in the order of commits.
for await (const { seq: at, operations } of stock.replay({ after: seq }))
  for (const { op, key, value } of operations) console.log(`[${at}] ${op} ${key} ${JSON.stringify(value)}`);
