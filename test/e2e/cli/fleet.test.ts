/** The commands of a fleet, on a scripted incident: six agents, one of which comes late. */
import { beforeEach, expect, test } from 'vitest';
import { Place } from './run.ts';

let place: Place;

beforeEach(async () => {
  place = new Place();
  await using reprise = await place.open({ durability: 'process' });
  const session = await reprise.createSession('incident');
  const topics = ['telemetry', 'deploys', 'network', 'diagnosis', 'database', 'status'];
  for (const agent of ['telemetry', 'deploys', 'network']) await session.spawn(agent, { scope: [agent] });
  await session.spawn('triage', { role: 'lead', scope: topics, trust: 0.9 });
  await session.spawn('comms', { scope: ['diagnosis', 'status'] });
  await session.spawn('db-specialist', { scope: ['database', 'telemetry', 'diagnosis'], fromTurn: 4 });
  await session.fleet.task.start({ task: 't1', title: 'Find the cause' });
  await session.fleet.task.claim({ task: 't1', agent: 'triage' });
  return () => place[Symbol.dispose]();
});

async function object(...words: readonly string[]): Promise<Record<string, unknown>> {
  return JSON.parse((await place.run([...words, '--json=object'])).stdout) as Record<string, unknown>;
}

test('an incident runs forward, is forked with a belief changed, and the difference is explained', async () => {
  const ran = await place.run(['forward', 'incident', '--until', '6', '--with', 'demo']);
  expect(ran.stderr).toContain('reprise beliefs incident');
  expect(ran.code).toBe(0);
  expect(ran.stdout).toContain('turn 1  triage: a bad deploy');
  expect(ran.stdout).toContain('turn 5  comms: we are enlarging the connection pool');

  const then = await place.run(['beliefs', 'incident', '--story', '3', '--topic', 'diagnosis']);
  expect(then.stdout).toMatch(/diagnosis +a bad deploy +decision +triage/);
  const now = await place.json('beliefs', 'incident', '--topic', 'diagnosis');
  expect(now).toMatchObject({ claim: 'the connection pool', agent: 'triage', topic: 'diagnosis' });
  const seen = await object('beliefs', 'incident', '--as', 'network');
  expect((seen['beliefs'] as readonly { topic: string }[]).map(({ topic }) => topic)).toEqual(['network']);

  const early = await object('agents', 'incident', '--story', '3');
  expect(early['agents']).toHaveLength(5);
  const { stdout: agents } = await place.run(['agents', 'incident']);
  expect(agents).toMatch(/triage +lead .* 0\.9 +0 +t1/);
  expect((await place.run(['tasks', 'incident'])).stdout).toMatch(/t1 +Find the cause +claimed +triage/);
  const known = await place.run(['show', 'incident', '--as', 'comms']);
  expect(known.stdout).toContain('sees diagnosis, status');
  expect(known.stdout).toContain('[status] we are enlarging the connection pool (comms, turn 5)');
  expect((await place.run(['show', 'incident'])).stdout).toContain('triage sees telemetry, deploys');

  await using reprise = await place.open({ durability: 'process' });
  const session = await reprise.session('incident');
  const branch = await session.at({ story: 1 }).fork({ name: 'earlier' });
  await branch.mutate({ agent: 'triage', topic: 'diagnosis', claim: 'the connection pool' });
  await reprise.close();
  const forward = await place.json(
    'forward',
    'incident/earlier',
    '--until',
    '6',
    '--with',
    'demo',
    '--reuse-unchanged',
  );
  expect(forward['stoppedBy']).toBeNull();
  const diff = await place.run(['diff', 'incident', 'incident/earlier', '--beliefs', '--from-turn', '2']);
  expect(diff.stdout).toMatch(/\+ \[diagnosis\] the connection pool \(triage, turn 2\), because of 1 change/);
});

test('rewind --only beliefs, revert --belief, audit', async () => {
  await place.run(['forward', 'incident', '--until', '6', '--with', 'demo']);
  const { id } = (await place.json('beliefs', 'incident', '--topic', 'diagnosis')) as { id: string };
  const reverted = await place.json('revert', 'incident', '--belief', id, '--reason', 'was wrong', '--by', 'ada');
  expect((reverted['marker'] as { type: string }).type).toBe('event.reverted');
  expect(await place.json('beliefs', 'incident', '--topic', 'diagnosis')).toMatchObject({ claim: 'a bad deploy' });
  const again = await place.run(['revert', 'incident', '--belief', id]);
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('rewound or reverted before')]);
  await place.json('rewind', 'incident', '--story', '1', '--only', 'beliefs');
  const { stdout } = await place.run(['audit', 'incident', '--limit', '2', '--json']);
  const audited = stdout
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { type: string }).type);
  expect(audited).toEqual(['event.reverted', 'branch.rewound']);
  expect((await place.run(['audit', 'incident', '--type', 'agent.spawned'])).stdout).toContain('from turn 4');
  const mistyped = await place.run(['audit', 'incident', '--type', 'agent.spwaned']);
  expect([mistyped.code, mistyped.stderr]).toEqual([2, expect.stringContaining('Did you mean "agent.spawned"?')]);
});

test('what cannot be done is said', async () => {
  const unknown = await place.run(['forward', 'incident', '--until', '2', '--with', 'nobody']);
  expect([unknown.code, unknown.stderr]).toEqual([
    expect.any(Number),
    expect.stringContaining('Cannot find fleet "nobody"'),
  ]);
  expect((await place.run(['forward', 'incident'])).code).toBe(2);
  expect((await place.run(['beliefs', 'incident@3', '--at', '4'])).stderr).toContain('both name a point');
  expect((await place.run(['beliefs', 'incident'])).stderr).toContain('No belief stands there.');
  const only = await place.run(['rewind', 'incident', '--only', 'beliefs']);
  expect([only.code, only.stderr]).toEqual([2, expect.stringContaining('without --story')]);
});
