/** The sessions that the examples of the wire page speak about: the same bytes every time. */

import { seq } from '../src/core/point.ts';
import type { EventStore, Platform, StoredEvent } from '../src/core/store/event-store.ts';
import type { TokenKeeper } from '../src/core/store/token-store.ts';
import { createReprise } from '../src/engine/reprise-parts.ts';
import { createNodePlatform } from '../src/node/platform.ts';
import { openMemoryStore } from '../src/store/memory/memory-store.ts';

/** A store with the sessions of the examples, and the values that the examples name. */
export interface WireWorld {
  readonly store: EventStore & TokenKeeper;
  /** The id of an experiment. */
  readonly experiment: string;
  /** The first event of `demo`, with its proof. */
  readonly first: StoredEvent;
  /** The branches of `pruned`, each with the digest at its head. */
  readonly heads: readonly { readonly branch: string; readonly digest: string }[];
}

/** Returns a store with the sessions of the examples. */
export async function wireWorld(): Promise<WireWorld> {
  const platform = steadyPlatform();
  const store = openMemoryStore({ platform });
  const reprise = createReprise({ store, platform });
  const demo = await reprise.createSession('demo');
  await demo.append([
    { type: 'run.started', agent: 'support', run: 'run-1', data: { title: 'Refund' } },
    { type: 'message.added', agent: 'support', run: 'run-1', data: { message: { role: 'user', content: 'Order 7' } } },
    { type: 'note.added', agent: 'support', run: 'run-1', data: { text: 'It is paid.' } },
    { type: 'run.ended', agent: 'support', run: 'run-1', data: { outcome: 'ok' } },
  ]);
  await demo.state.as('support').transaction((tx) => tx.write('plan', { next: 'refund' }));
  await demo.fork('main@4', { name: 'careful' });
  const old = await reprise.createSession('old');
  await old.append({ type: 'note.added', data: { text: 'An old note' } });
  for (const name of ['tried', 'failed']) await old.fork('main@1', { name });
  const ref = { namespace: 'default', session: 'demo' };
  const seed = (await store.session(ref))?.seed ?? '';
  await store.createSession({ ...ref, session: 'restored' }, { root: 'main', seed });
  for (const session of ['older', 'oldest']) await reprise.createSession(session);
  const pruned = await reprise.createSession('pruned');
  await pruned.append({ type: 'note.added', data: { text: 'A note' } });
  await pruned.fork('main@1', { name: 'failed' });
  const { coding } = await reprise.createSession('parser');
  await coding.startRun({ run: 'fix-1' });
  await coding.constraint({ key: 'edit_tests', text: 'Do not edit tests.' });
  await coding.patch({ file: 'src/parser.ts', after: 'export const one = 1;\n' });
  const outage = await reprise.createSession('outage');
  await outage.spawn('db', { scope: ['database'] });
  const tried = await reprise.createSession('tried');
  await tried.append({
    type: 'message.added',
    agent: 'support',
    data: { message: { role: 'user', content: 'Order 7' } },
  });
  const variants = [{ name: 'as-is' }];
  const { id: experiment } = await reprise.experiment({ sessions: ['tried'], variants, agent: async () => 'ok' });
  const view = [{ branch: 'main', after: seq(0), through: seq(1), except: [], carried: false }];
  const { events } = await store.read(ref, view, { limit: 1, select: 'proof', direction: 'forward' });
  const [first] = events;
  if (first === undefined) throw new Error('The session has no event');
  const heads = (await store.branches({ ...ref, session: 'pruned' })).map(({ branch, digest }) => ({ branch, digest }));
  return { store, first, heads, experiment };
}

/** A platform whose clock never moves and whose ids and salts count. */
function steadyPlatform(): Platform {
  let count = 0;
  // The project of the one who writes the page says nothing here.
  const { project: _, ...own } = createNodePlatform();
  return {
    ...own,
    now: () => '2026-11-15T10:00:00.000Z',
    newId: () => `event-${++count}`,
    newSalt: () => `salt-${String(++count).padStart(17, '0')}`,
  };
}
