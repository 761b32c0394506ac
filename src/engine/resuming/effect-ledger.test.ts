import { expect, test } from 'vitest';
import { createNodePlatform } from '../../node/platform.ts';
import { openMemoryStore } from '../../store/memory/memory-store.ts';
import { sessionRecord } from '../history/place.ts';
import { createReprise } from '../reprise-parts.ts';
import { engineOf, type Session } from '../session.ts';
import { AskedCall } from './asked-call.ts';
import { EffectLedger } from './effect-ledger.ts';

const platform = createNodePlatform();

async function open() {
  const reprise = createReprise({ store: openMemoryStore({ platform }), platform });
  const session = await reprise.createSession('demo');
  await pay(session, 'main', 1);
  const engine = engineOf(session);
  let read = 0;
  const counted = {
    ...engine,
    onRead: (count: number) => {
      read += count;
    },
  };
  const ledger = new EffectLedger(counted, 'demo');
  const of = () => sessionRecord(engine, 'demo');
  ledger.renew('main', await of());
  /** Returns how many calls of tools the ledger knows, and how many events it read for the answer. */
  const asked = async (): Promise<readonly [number, number]> => {
    const before = read;
    const { inside, outside } = await ledger.around({ pieces: [] });
    return [inside.length + outside.flat().length, read - before];
  };
  return { reprise, session, ledger, of, asked, [Symbol.asyncDispose]: () => reprise.close() };
}

/** Records a call of a tool and its end. */
async function pay(session: Session, branch: string, bill: number): Promise<void> {
  const about = { call: `c${bill}`, kind: 'tool', name: 'pay' };
  await session.branch(branch).append([
    { type: 'call.started', data: { ...about, effect: 'irreversible', input: { bill } } },
    { type: 'call.ended', data: { ...about, outcome: 'ok', output: bill } },
  ]);
}

/** Makes the ledger look again, as a branch does that has made a call. */
const again = async ({ ledger, of }: Awaited<ReturnType<typeof open>>): Promise<void> => {
  ledger.reuse('main');
  ledger.renew('main', await of());
};

const asking = (bill: number): AskedCall => {
  const start = { kind: 'tool', name: 'pay', call: 'new', input: { bill } } as never;
  return new AskedCall(start, { compare: () => 'different' });
};

test('a ledger that is renewed reads what came since, on every branch', async () => {
  await using world = await open();
  expect(await world.asked()).toEqual([1, 2]);
  await pay(world.session, 'main', 2);
  await world.session.fork('main', { name: 'x' });
  await pay(world.session, 'x', 3);
  await again(world);
  expect(await world.asked()).toEqual([3, 4]);
  await again(world);
  expect(await world.asked()).toEqual([3, 0]);
});

test('a ledger reads everything again once content was erased', async () => {
  await using world = await open();
  await pay(world.session, 'main', 2);
  expect(await world.asked()).toEqual([2, 4]);
  await world.session.erase('main@1');
  await again(world);
  // The erasure took every event that held the texts of the first.
  expect(await world.asked()).toEqual([0, 4]);
});

test('a ledger reads everything again once a branch was deleted, and finds what was made on one of its name', async () => {
  await using world = await open();
  await world.session.fork('main', { name: 'x' });
  for (const bill of [2, 3, 4]) await pay(world.session, 'x', bill);
  expect(await world.asked()).toEqual([4, 8]);
  await world.session.deleteBranch('x', { confirm: 'x' });
  await world.session.fork('main@2', { name: 'x' });
  await pay(world.session, 'x', 5);
  expect((await world.ledger.begunElsewhere('main', asking(5)))?.branch).toBe('x');
  await again(world);
  expect((await world.asked())[0]).toBe(2);
});
