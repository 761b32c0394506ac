import {
  conversation,
  openReprise,
  type Reprise,
  RepriseError,
  type Session,
  state,
  summary,
} from '../../src/index.ts';
import { all } from '../verbs/verb-case.ts';

/** The result of each look, as text: what it found, or the code of the error. */
export type Looks = Readonly<Record<string, string>>;

/** Looks at everything that a store can be asked. A look that throws must throw a clear error. */
export async function looksOf(path: string): Promise<Looks> {
  const found: Record<string, string> = {};
  const look = async (name: string, ask: () => Promise<unknown>): Promise<void> => {
    try {
      found[name] = JSON.stringify(await ask()) ?? 'nothing';
    } catch (error) {
      if (!(error instanceof RepriseError) || error.hint === undefined)
        throw new Error(`${name} threw something unclear`, { cause: error });
      found[name] = `error ${error.code}`;
    }
  };
  await look('open', async () => {
    await using reprise = await openReprise({ store: `sqlite:${path}`, durability: 'process' });
    await look('sessions', async () => (await all(reprise.sessions({ allNamespaces: true }))).map(nameOf).sort());
    for (const namespace of ['default', 'far']) await inNamespace(reprise.namespace(namespace), look);
    return 'opened';
  });
  return found;
}

const nameOf = ({ namespace, session }: { readonly namespace: string; readonly session: string }): string =>
  `${namespace}/${session}`;

type Look = (name: string, ask: () => Promise<unknown>) => Promise<void>;

async function inNamespace(reprise: Reprise, look: Look): Promise<void> {
  const { currentNamespace: namespace } = reprise;
  await look(`${namespace} session`, async () => {
    const session = await reprise.session('demo');
    await look(
      `${namespace} tree`,
      async () => JSON.parse(JSON.stringify(await session.tree(), withoutBytes)) as unknown,
    );
    for (const branch of namespace === 'far' ? ['main'] : ['main', 'child', 'other'])
      await onBranch(session, branch, (name, ask) => look(`${namespace} ${branch} ${name}`, ask));
    return 'opened';
  });
}

const withoutBytes = (key: string, value: unknown): unknown => (key === 'bytes' ? undefined : value);

async function onBranch(session: Session, branch: string, look: Look): Promise<void> {
  const at = { branch };
  await look('replay', () => all(session.at(at).replay()));
  await look('raw', () => all(session.at(at).replay({ history: 'raw' })));
  await look('backward', () => all(session.at(at).replay({ direction: 'backward', limit: 20 })));
  await look('calls', () => all(session.at(at).replay({ filter: { types: ['call.ended'] }, limit: 20 })));
  await look('since', () => all(session.at(at).replay({ filter: { since: '2021-01-01T00:00:00.000Z' }, limit: 5 })));
  for (const projection of [conversation, summary, state] as const)
    await look(projection.name, () => session.at(at).fold(projection as typeof summary));
  await look('fingerprint', () => session.at(at).fingerprint());
  await look('metadata', () => session.at(at).metadata());
  await look('turn', () => session.at(`${branch}@turn:7`).locate());
  await look('time', () => session.at({ branch, time: '2021-01-01T00:00:00.000Z' }).locate());
  const held = session.branch(branch).state;
  for (const key of ['payee', 'amount', 'nothing']) await look(`get ${key}`, () => held.get(key));
  await look('scan', () => all(held.scan('')));
  await look('history', () => all(held.history('payee')));
  await look('resumable', () => session.at(at).resumable());
}

/** Returns true if something says that the store is damaged: a verification, or the store itself. */
export async function isNamed(path: string, heads: Readonly<Record<string, string>>): Promise<boolean> {
  try {
    await using reprise = await openReprise({ store: `sqlite:${path}`, durability: 'process' });
    if ((await reprise.health({ deep: true })).problems.length > 0) return true;
    for await (const { count } of reprise.verifyAll({ allNamespaces: true })) if (count > 0) return true;
    for (const [name, head] of Object.entries(heads)) {
      const [namespace = '', branch = ''] = name.split('/');
      const session = await reprise.namespace(namespace).session('demo');
      if (!(await session.branch(branch).verify({ head, deep: true })).ok) return true;
    }
    return false;
  } catch (error) {
    if (error instanceof RepriseError) return true;
    throw error;
  }
}

/** Returns the digests of the heads, as someone would have kept them elsewhere, by namespace and branch. */
export async function headsOf(path: string): Promise<Readonly<Record<string, string>>> {
  await using reprise = await openReprise({ store: `sqlite:${path}`, durability: 'process' });
  const heads: Record<string, string> = {};
  for (const name of ['default/main', 'default/child', 'default/other', 'far/main']) {
    const [namespace = '', branch = ''] = name.split('/');
    heads[name] = (await (await reprise.namespace(namespace).session('demo')).at(branch).locate()).digest;
  }
  return heads;
}
