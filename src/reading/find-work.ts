import type { EventFilter } from '../core/event/filter.ts';
import { mainBranch, type Ref } from '../core/ref.ts';
import type { Reprise } from '../engine/reprise.ts';
import type { Session } from '../engine/session.ts';
import { branchesOf } from './branch-tree.ts';
import { TaskEvents } from './task-events.ts';

/** A run or a task by its id. */
export type Work = { readonly run: string } | { readonly task: string };

// Enough to find recent work, few enough to answer a mistyped id at once.
const sessionsMax = 100;
const branchesMax = 100;

/** Finds the point where a run or a task ends: in one place, or in the newest session that has it. */
export async function findWork(
  reprise: Reprise,
  work: Work,
  within?: { readonly session: string; readonly branch: string | undefined },
): Promise<Ref | undefined> {
  if (within !== undefined) return workIn(await reprise.session(within.session), work, within.branch);
  let searched = 0;
  for await (const { session } of reprise.sessions()) {
    if (++searched > sessionsMax) return undefined;
    const found = await workIn(await reprise.session(session), work, undefined);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Looks on one branch; or on `main` and then on the others, which read what their parents have. */
async function workIn(session: Session, work: Work, branch: string | undefined): Promise<Ref | undefined> {
  for (const name of branch === undefined ? await namesOf(session) : [branch]) {
    const at = await endOf(session, name, work);
    if (at !== undefined) return { session: session.id, branch: name, at };
  }
  return undefined;
}

async function namesOf(session: Session): Promise<readonly string[]> {
  const names = (await branchesOf(session)).map(({ branch }) => branch).filter((name) => name !== mainBranch);
  return [mainBranch, ...names].slice(0, branchesMax);
}

async function endOf(session: Session, branch: string, work: Work): Promise<Ref['at'] | undefined> {
  const on = session.branch(branch);
  if ('run' in work) {
    const found = await on.find({ run: work.run }, { history: 'raw' });
    return found === undefined ? undefined : { kind: 'run', run: work.run };
  }
  const handed: EventFilter = { types: ['task.started', 'task.claimed', 'task.ended', 'verification.failed'] };
  let first: number | undefined;
  for await (const { seq, data } of on.replay({ filter: handed })) {
    if (data['task'] !== work.task) continue;
    first = seq;
    break;
  }
  if (first === undefined) return undefined;
  const events = new TaskEvents(work.task);
  let last: Ref['at'] | undefined;
  for await (const event of on.replay({ after: first - 1 })) {
    if (!events.take(event)) continue;
    last = { kind: 'seq', seq: event.seq };
    if (event.type === 'task.ended') break;
  }
  return last;
}
