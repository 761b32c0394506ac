// Another process on the same store: node peer-child.ts PATH append COUNT | fight NAME COUNT | hold

import { once } from 'node:events';
import { writeSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { openReprise, RepriseError } from '../../src/index.ts';

const [path = '', mode, ...more] = process.argv.slice(2);
const say = (text: string): number => writeSync(1, `${text}\n`);

/** Appends one note after another. */
async function append(count: number): Promise<void> {
  await using reprise = await openReprise(`sqlite:${path}`);
  const session = await reprise.session('demo');
  say('ready');
  for (let index = 1; index <= count; index++) {
    const [event] = await session.append({ type: 'note.added', data: { text: `peer ${index}` } });
    say(`${event?.seq}`);
  }
}

/** Appends under the head it has seen, and looks again when another was faster. */
async function fight(name: string, count: number): Promise<void> {
  await using reprise = await openReprise(`sqlite:${path}`);
  const session = await reprise.session('demo');
  say('ready');
  let conflicts = 0;
  for (let index = 1; index <= count; ) {
    const { head } = await session.locate();
    try {
      const [event] = await session.append({ type: 'note.added', data: { text: `${name} ${index}` } }, { head });
      say(`${event?.seq}`);
      index++;
    } catch (error) {
      if (!(error instanceof RepriseError) || error.code !== 'append.conflict') throw error;
      conflicts++;
    }
  }
  say(`conflicts ${conflicts}`);
}

/** Holds the write lock, as a slow or stopped process would, until its input ends. */
async function hold(): Promise<void> {
  const database = new DatabaseSync(path);
  database.exec('BEGIN IMMEDIATE');
  say('holding');
  await once(process.stdin.resume(), 'end');
  database.exec('ROLLBACK');
  database.close();
}

if (mode === 'append') await append(Number(more[0]));
else if (mode === 'fight') await fight(more[0] ?? '', Number(more[1]));
else await hold();
