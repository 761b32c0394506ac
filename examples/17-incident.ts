/** An incident with six agents, and what if the one who knew had come earlier: npx tsx 17-incident.ts */

import { openReprise } from 'reprise';
import type { AgentTurn } from 'reprise/fleet';

await using reprise = await openReprise('memory:');
const session = await reprise.createSession('incident');

/** The rules by which each agent speaks, from what it sees. */
const rules: Record<string, (seen: Set<string>, turn: number) => [topic: string, claim: string] | undefined> = {
  telemetry: (_, turn) =>
    turn < 4 ? ['telemetry', 'latency is rising'] : ['telemetry', 'connections are at their limit'],
  deploys: () => ['deploys', 'release 41 went out an hour ago'],
  network: (_, turn) => (turn === 2 ? ['network', 'packet loss is normal'] : undefined),
  triage: (seen) => {
    if (seen.has('the pool is exhausted')) return ['diagnosis', 'the connection pool'];
    return seen.has('release 41 went out an hour ago') ? ['diagnosis', 'a bad deploy'] : undefined;
  },
  db: (seen) => (seen.has('latency is rising') ? ['database', 'the pool is exhausted'] : undefined),
  comms: (seen) => ['status', seen.has('the connection pool') ? 'we enlarge the pool' : 'we roll back release 41'],
};
const scopes = {
  telemetry: ['telemetry'],
  deploys: ['deploys'],
  network: ['network'],
  triage: ['telemetry', 'deploys', 'network', 'database', 'diagnosis'],
  comms: ['diagnosis', 'status'],
};
const onTurn = Object.fromEntries(
  Object.entries(rules).map(([agent, rule]) => [
    agent,
    async ({ self, turn }: AgentTurn) => {
      const seen = new Set((await self.beliefs.list()).map(({ claim }) => claim));
      const [topic, claim] = rule(seen, turn) ?? [];
      if (topic === undefined || claim === undefined || seen.has(claim)) return;
      await self.beliefs.commit({ topic, claim });
      console.log(`  turn ${turn}  ${agent}: ${claim}`);
    },
  ]),
);

console.log('What happened:');
for (const [agent, scope] of Object.entries(scopes)) await session.spawn(agent, { scope });
await session.runForward({ untilTurn: 2, onTurn });
await session.spawn('db', { scope: ['database', 'telemetry'], fromTurn: 3 }); // late
await session.runForward({ untilTurn: 4, onTurn });

console.log('What if the database specialist had been there from turn 2 on:');
const branch = await session.at({ story: 1 }).fork({ name: 'db-earlier' });
await branch.spawn('db', { scope: ['database', 'telemetry'] });
const { live, reused } = await branch.runForward({ untilTurn: 4, onTurn, reuseUnchanged: true });
console.log(`  ${live.length} turns ran, ${reused.length} were repeated`);

const { beliefs } = await reprise.diff('incident', 'incident/db-earlier', { beliefs: true, fromTurn: 2 });
for (const { topic, claims } of beliefs?.topics ?? [])
  for (const { kind, side, belief, attribution } of claims) {
    const sign = kind === 'only' ? (side === 'left' ? '-' : '+') : '~';
    console.log(`  ${sign} [${topic}] ${belief.claim} (turn ${belief.turn}), ${attribution.how}`);
  }
