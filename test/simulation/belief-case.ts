import { expect } from 'vitest';
import type { Belief } from '../../src/fleet.ts';
import { type Reprise, RepriseError, type Session } from '../../src/index.ts';

interface Operation {
  readonly on?: string;
  readonly commit?: Parameters<Session['beliefs']['commit']>[0] & { readonly through?: true };
  readonly mutate?: { readonly claim: string };
  readonly spawn?: string;
  readonly change?: string;
  readonly end?: string;
  readonly with?: Readonly<Record<string, never>>;
  readonly turn?: number;
  readonly rewind?: { readonly turn?: number; readonly seq?: number; readonly only?: 'beliefs' };
  readonly unrewind?: number;
  readonly revert?: string;
  readonly restore?: boolean;
  readonly replace?: string;
  readonly erase?: string;
  readonly note?: { readonly turn: number };
  readonly fork?: { readonly turn: number } | { readonly seq: number };
  readonly as?: string;
  readonly refused?: true;
}

/** A case that a person can read. */
export interface WorkedCase {
  readonly name: string;
  readonly session?: { readonly strategy?: string };
  readonly ops: readonly Operation[];
  readonly active: Readonly<Record<string, readonly string[]>>;
  readonly registration?: Readonly<Record<string, readonly string[] | null>>;
}

async function run(session: Session, op: Operation): Promise<unknown> {
  const branch = op.on ?? 'main';
  const on = session.branch(branch);
  const { beliefs, fleet } = on;
  if (op.commit !== undefined) {
    const { through, agent, ...claim } = op.commit;
    if (through === true) return on.as(agent ?? '').beliefs.commit(claim);
    return beliefs.commit(op.commit);
  }
  if (op.mutate !== undefined) return on.mutate(op.mutate);
  if (op.spawn !== undefined) return on.spawn(op.spawn, op.with ?? {});
  const at = op.turn === undefined ? {} : { turn: op.turn };
  if (op.change !== undefined) return fleet.change(op.change, { ...op.with, ...at });
  if (op.end !== undefined) return fleet.end(op.end, at);
  if (op.rewind !== undefined) {
    const { only, turn, seq } = op.rewind;
    return on.rewind(seq === undefined ? { story: turn ?? 0 } : seq, only ? { only } : {});
  }
  if (op.unrewind !== undefined) return on.redo();
  if (op.revert !== undefined)
    return beliefs.revert(op.revert, op.restore === undefined ? {} : { restore: op.restore });
  if (op.replace !== undefined) {
    const seq = await seqOf(session, branch, op.replace);
    const belief = { topic: 't', kind: 'decision', ...op.with } as never;
    return on.edit({ kind: 'belief', seq, belief });
  }
  if (op.erase !== undefined) return session.erase({ branch, seq: await seqOf(session, branch, op.erase) });
  if (op.note !== undefined) return on.append({ type: 'note.added', turn: op.note.turn, data: { text: 'noted' } });
  const { fork } = op;
  if (fork === undefined) throw new Error(`no operation ${JSON.stringify(op)}`);
  return on.at('turn' in fork ? { story: fork.turn } : fork).fork({ name: op.as ?? '' });
}

/** Returns the seq of a claim by the id it had first. */
async function seqOf(session: Session, branch: string, id: string): Promise<number> {
  for await (const event of session.at(branch).replay())
    if (event.id === id || event.replacedIds?.includes(id) === true) return event.seq;
  throw new Error(`no claim ${id}`);
}

function lookOf(text: string): {
  readonly branch: string;
  readonly seq?: number;
  readonly turn?: number;
  readonly as?: string;
  readonly topic?: string;
  readonly agent?: string;
} {
  const pattern = /^(\w+)(?:@(\d+))?(?: turn (\d+))?(?: as (\w+))?(?: topic (\w+))?(?: by (\w+))?$/;
  const [, branch = '', seq, turn, as, topic, agent] = pattern.exec(text) ?? [];
  return {
    branch,
    ...(seq === undefined ? {} : { seq: Number(seq) }),
    ...(turn === undefined ? {} : { turn: Number(turn) }),
    ...(as === undefined ? {} : { as }),
    ...(topic === undefined ? {} : { topic }),
    ...(agent === undefined ? {} : { agent }),
  };
}

const named = (beliefs: readonly Belief[]): string[] =>
  beliefs.map(({ id, replacedIds }) => replacedIds?.[0] ?? id).sort();

/** Runs a case on a store and compares every look it has. */
export async function runCase(reprise: Reprise, worked: WorkedCase): Promise<void> {
  const session = await reprise.createSession('case');
  // The rule is kept with the session, and its event is the first: the seqs of a case are one lower.
  const strategy = worked.session?.strategy;
  const shift = strategy === undefined ? 0 : 1;
  if (strategy !== undefined) await session.beliefs.setStrategy(strategy);
  for (const op of worked.ops) {
    if (op.refused === true) await expect(run(session, op), JSON.stringify(op)).rejects.toBeInstanceOf(RepriseError);
    else await run(session, op);
  }
  for (const [text, expected] of Object.entries(worked.active)) {
    const { branch, as, seq, turn, ...query } = lookOf(text);
    const on = session.branch(branch);
    const where = {
      ...(seq === undefined ? {} : { seq: seq + shift }),
      ...(turn === undefined ? {} : { story: turn }),
    };
    const look = seq === undefined && turn === undefined ? on : on.at(where);
    const got = await (as === undefined ? look.beliefs : look.as(as).beliefs).list(query);
    expect(named(got), `${worked.name}: ${text}`).toEqual([...expected].sort());
  }
  for (const [text, expected] of Object.entries(worked.registration ?? {})) {
    const { branch, as, turn } = lookOf(text);
    const on = session.branch(branch);
    const agents = await (turn === undefined ? on : on.at({ story: turn })).fleet.agents();
    expect(agents.find(({ agent }) => agent === as)?.scope ?? null, `${worked.name}: ${text}`).toEqual(expected);
  }
}
