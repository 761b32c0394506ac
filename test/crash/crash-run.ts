import { checkAftermath } from './aftermath.ts';
import { type KillTime, runAndKill } from './kill.ts';
import { Random } from './random.ts';
import type { Line } from './writer-report.ts';

/** Kills one writer after another on the same file and checks what each of them left. Gives how many events there are. */
export async function crashRun(
  path: string,
  { seed, kills, migrating }: { readonly seed: number; readonly kills: number; readonly migrating: boolean },
): Promise<number> {
  const random = new Random(seed);
  const said: Line[] = [];
  let events = 0;
  for (let round = 0; round < kills; round++) {
    const kill = killTime(random, round === kills - 1);
    // A release may come at any time in the life of a file.
    const isNewer = migrating && round >= kills / 2;
    said.push(...(await runAndKill(path, { seed: seed * 1_000 + round, round, kill, migrating: isNewer })));
    try {
      events = await checkAftermath(
        path,
        said.filter((line) => line.kind !== 'opened'),
        isNewer,
      );
    } catch (error) {
      const where = `Seed ${seed}, round ${round}, killed ${kill.ms} ms after ${kill.after}`;
      throw new Error(`${where}: ${error instanceof Error ? error.stack : String(error)}`, { cause: error });
    }
  }
  return events;
}

/** At any moment; the last writer of a file is killed when it has stored something, however busy the machine is. */
function killTime(random: Random, isLast: boolean): KillTime {
  if (isLast) return { after: 'appended', ms: random.below(150) };
  return random.below(4) === 0
    ? { after: 'start', ms: 60 + random.below(200) }
    : { after: 'opened', ms: random.below(150) };
}
