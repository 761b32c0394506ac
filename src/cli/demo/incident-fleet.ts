import type { AgentTurn, OnTurn } from '../../engine/forwarding/run-forward-options.ts';

/** Returns the topic and claim of an agent in a turn, from what it sees. */
type Says = (seen: ReadonlySet<string>, turn: number) => readonly [topic: string, claim: string] | undefined;

/** The agents of a scripted incident: each is a function of the beliefs that it sees. */
const says: Readonly<Record<string, Says>> = {
  telemetry: (_seen, turn) => ['telemetry', turn < 4 ? 'latency is rising' : 'connections are at their limit'],
  deploys: (_seen, turn) => (turn === 1 ? ['deploys', 'release 41 went out an hour ago'] : undefined),
  network: (_seen, turn) => (turn === 2 ? ['network', 'packet loss is normal'] : undefined),
  triage: (seen) => {
    if (seen.has('the pool is exhausted')) return ['diagnosis', 'the connection pool'];
    return seen.has('release 41 went out an hour ago') ? ['diagnosis', 'a bad deploy'] : undefined;
  },
  'db-specialist': (seen) =>
    seen.has('connections are at their limit') || seen.has('the connection pool')
      ? ['database', 'the pool is exhausted']
      : undefined,
  comms: (seen) => {
    if (seen.has('the connection pool')) return ['status', 'we are enlarging the connection pool'];
    return seen.has('a bad deploy') ? ['status', 'we are rolling back release 41'] : undefined;
  },
};

/** Runs the fleet of a scripted incident, without a network. */
export const incidentFleet: OnTurn<string> = Object.fromEntries(
  Object.entries(says).map(([agent, say]) => [
    agent,
    async ({ self, turn }: AgentTurn): Promise<string> => {
      const seen = new Set((await self.beliefs.list()).map(({ claim }) => claim));
      const [topic, claim] = say(seen, turn) ?? [];
      if (topic === undefined || claim === undefined || seen.has(claim)) return '';
      await self.beliefs.commit({ topic, claim });
      return claim;
    },
  ]),
);
