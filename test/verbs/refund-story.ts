import type { Event } from '../../src/core/event/event.ts';
import { textOf } from '../../src/core/message/message.ts';
import type { AgentFunction, ResumeContext } from '../../src/core/recording/agent.ts';
import type { Session } from '../../src/engine/session.ts';
import { type RunNode, runs } from '../../src/projections/runs.ts';
import { countedRefund, recordLoop, refunding } from './little-agent.ts';
import { all } from './verb-case.ts';

/** The user's request. */
export const question = 'Refund order 7.';

/** Records a refund on `main`, and returns its digest. */
export async function refunded(session: Session): Promise<string> {
  const refund = countedRefund();
  await recordLoop(session, { model: refunding(), tools: { refund } }, [question]);
  return (await session.locate()).digest;
}

/** An agent that keeps the context it is handed. */
export function noting(): AgentFunction<string> & { seen: ResumeContext[] } {
  const seen: ResumeContext[] = [];
  const agent = async (context: ResumeContext): Promise<string> => {
    seen.push(context);
    return `heard ${textOf(context.prompt ?? null)}`;
  };
  return Object.assign(agent, { seen });
}

/** The types of events, in order. */
export const types = (events: readonly Event[]): string[] => events.map(({ type }) => type);
/** Reads the events that a branch stores itself. */
export const own = async (session: Session, branch: string): Promise<Event[]> => {
  const { parent } = await session.branch(branch).locate();
  return all(session.branch(branch).replay({ history: 'raw', after: parent?.seq ?? 0 }));
};
/** The last run of a branch. */
export async function lastRun(session: Session, branch: string): Promise<RunNode | undefined> {
  return (await session.branch(branch).fold(runs)).runs.findLast(({ run }) => run !== null);
}
