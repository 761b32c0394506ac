import { hash } from 'node:crypto';
import { beginning } from '../../src/core/point.ts';
import {
  conversation,
  metadata,
  openReprise,
  type Reprise,
  runs,
  type Session,
  summary,
  type Verification,
} from '../../src/index.ts';
import type { EventStore, Platform } from '../../src/store.ts';

/** Text that two equal values share, whatever the order in which their keys were set. */
const digestOf = (value: unknown): string => hash('sha256', JSON.stringify(sorted(value)));

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, held]) => [key, sorted(held)]);
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

/** Everything a recorded store answers: events and states at the heads in full, at every other point as digests. */
export async function answersOf(store: EventStore, platform: Platform): Promise<unknown> {
  const reprise = await openReprise({ store, platform });
  const page = await store.sessions({ limit: 1_000 });
  const sessions = page.sessions.toSorted((a, b) =>
    `${a.namespace}/${a.session}` < `${b.namespace}/${b.session}` ? -1 : 1,
  );
  const answers = [];
  for (const { namespace, session, ...record } of sessions) {
    const held = await reprise.namespace(namespace).session(session);
    answers.push({
      namespace,
      session,
      record,
      history: await held.toJSON(),
      branches: await branchesOf(store, reprise, namespace, held),
    });
  }
  return answers;
}

async function branchesOf(
  store: EventStore,
  reprise: Reprise,
  namespace: string,
  session: Session,
): Promise<unknown[]> {
  const ref = { namespace, session: session.id };
  const answers = [];
  for (const { branch, parent, head, digest, bytes } of await store.branches(ref)) {
    const at = { branch };
    const own = { branch, after: parent?.seq ?? beginning, through: head, except: [], carried: false };
    const keys = await store.latest(ref, [own], { prefix: '' }, { limit: 1_000, select: 'header' });
    answers.push({
      branch,
      parent: parent ?? null,
      head,
      digest,
      bytes,
      view: (await all(session.at(at).replay())).map((event) => event.seq),
      replay: digestOf(await all(session.at(at).replay())),
      fingerprint: await session.at(at).fingerprint(),
      verify: chainOf(await session.at(at).verify()),
      metadata: await session.at(at).metadata(),
      keys: keys.entries.map(({ key, event }) => [key, event.seq]),
      states: {
        conversation: await session.at(at).fold(conversation),
        summary: await session.at(at).fold(summary),
      },
      points: await pointsOf(session, branch, head),
    });
  }
  return answers;
}

/** Returns what a verification says about the chain; later releases also say what they do not look at beside it. */
function chainOf({ ok, events, digest: reached, firstBad, reason, notCovered }: Verification): unknown {
  const chain = notCovered.filter((what) => ['cut tail', 'rewritten chain'].includes(what));
  return { ok, events, digest: reached, firstBad, reason, notCovered: chain };
}

async function pointsOf(session: Session, branch: string, head: number): Promise<string[]> {
  const points: string[] = [];
  for (let seq = 0; seq <= head; seq++) {
    const at = { branch, seq };
    points.push(
      digestOf([
        await all(session.at(at).replay()),
        await session.at(at).fold(conversation),
        await session.at(at).fold(runs),
        await session.at(at).fold(summary),
        await session.at(at).fold(metadata),
      ]),
    );
  }
  return points;
}
