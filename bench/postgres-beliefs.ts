/** Beliefs on PostgreSQL, for the record: durable commits, and looks at any turn of a long history. */
import { committing, fill } from './beliefs.ts';
import { alternate, forTheRecord, median, type Row, spread, time, timeEach } from './measure.ts';
import { BenchServer, openPostgres } from './postgres.ts';
import { randomSource } from './workload.ts';
import type { Workspace } from './workspace.ts';

const commitsEach = 10;

/** Rows of beliefs on PostgreSQL. */
export async function benchPostgresBeliefs(workspace: Workspace): Promise<Row[]> {
  const { events: claims, rounds, isQuick } = workspace.sizes;
  await using server = await BenchServer.start();
  const rows: Row[] = [];
  for (const [late, name] of [
    [0, ''],
    [0.01, ', 1 % of them late'],
  ] as const) {
    const url = server.storeUrl();
    await using opened = await openPostgres(url, 'process');
    const { session } = opened;
    await fill(session, { claims, topics: 1_000, late });
    const random = randomSource(11);
    const turns = Array.from({ length: isQuick ? 5 : 50 }, () => Math.floor(random() * claims));
    await session.at({ story: 1 }).beliefs.list();
    const { looks } = await alternate(rounds, {
      looks: () =>
        timeEach(turns.length, async () => {
          for (const turn of turns) await session.at({ story: turn }).beliefs.list();
        }),
    });
    const first = await firstLook(url);
    rows.push(
      forTheRecord(
        `PostgreSQL: beliefs at any turn of ${claims.toLocaleString('en')} commitments, 1,000 active${name}`,
        time(median(looks)),
        `${spread(looks)}, in a process that has looked before; ${time(first)} for the first look of a process`,
      ),
    );
  }
  await using durable = await openPostgres(server.storeUrl(), 'disk');
  const commit = committing(durable.session, (index) => ({ agent: 'a', topic: `topic-${index % 5}` }));
  const { commits } = await alternate(isQuick ? 1 : rounds, {
    commits: () =>
      timeEach(commitsEach, async () => {
        for (let index = 0; index < commitsEach; index++) await commit();
      }),
  });
  return [
    ...rows,
    forTheRecord(
      'PostgreSQL: durable commit of a belief that settles a contradiction',
      time(median(commits)),
      spread(commits),
    ),
  ];
}

/** Returns how long the first look of a process takes: it reads a snapshot, and what came after it. */
async function firstLook(url: string): Promise<number> {
  await using opened = await openPostgres(url);
  return await timeEach(1, () => opened.session.at({ story: 1 }).beliefs.list());
}
