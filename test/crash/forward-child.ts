// Runs a fleet forward: node forward-child.ts STORE FILE UNTIL. Each payment is a line of FILE, each turn a line of output.
import { appendFileSync, writeSync } from 'node:fs';
import type { AgentTurn } from '../../src/fleet.ts';
import { openReprise } from '../../src/index.ts';

const [store = '', file = '', until = ''] = process.argv.slice(2);
const agentOf = async ({ self, recorder, turn, agent }: AgentTurn): Promise<void> => {
  const seen = (await self.beliefs.list()).map(({ claim }) => claim).sort();
  const call = { kind: 'tool', name: 'pay', input: { turn, agent } } as const;
  await recorder.call(call, () => appendFileSync(file, `${turn} ${agent}\n`));
  // A payment whose end was not stored is in doubt, and a run would ask about it.
  await recorder.flush();
  await self.state.transaction((tx) => tx.write('turn', turn));
  writeSync(1, `${turn} ${agent}\n`);
  await self.beliefs.commit({ topic: agent, claim: `turn ${turn}: ${seen.length} seen` });
};
await using reprise = await openReprise({ store, busyWaitMs: 30_000 });
const session = await reprise.session('demo');
const onTurn = { a: agentOf, b: agentOf, c: agentOf };
const { stoppedBy } = await session.runForward({ untilTurn: Number(until), onTurn });
if (stoppedBy !== undefined) throw stoppedBy.error;
