/** The screens of the guide to imports: each format, as a person sees it. `vitest -u` writes the page anew. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../../docs/workshop.ts';
import { sources } from '../../import/sources.ts';
import { Place, skipOnServer } from './run.ts';

skipOnServer('the page is the same wherever the events are kept');

/** The screens stand between these two lines of the page. */
const [begin, end] = ['<!-- screens -->', '<!-- end of screens -->'];

/** The names of the files as their tools write them; a plain name if left out. */
const names: Readonly<Record<string, string>> = {
  codex: 'rollout.jsonl',
  'swe-agent': 'fix.traj',
  openhands: 'events.json',
  bernstein: 'replay.jsonl',
  vcr: 'cassette.yaml',
  har: 'page.har',
};

test('the guide has a screen for each format', async () => {
  using place = new Place();
  const screens: string[] = [];
  for (const [format, [source]] of Object.entries(sources)) {
    const file = place.write(names[format] ?? `${format}.json`, source?.text ?? '');
    const { stdout } = await place.run(['import', file]);
    const [session = ''] = stdout.split(' imported');
    const replayed = await place.run(['replay', session], { env: { COLUMNS: '112' } });
    const table = replayed.stdout.slice(replayed.stdout.indexOf('SEQ')).trimEnd();
    // Some formats have no times, and their events get that of the import.
    const lines = table.split('\n').map((line) => line.replace(/^(SEQ|\s*\d+)\s+(?:TIME|\+\S+)/, '$1').trimEnd());
    screens.push(
      [
        `### ${format}`,
        '',
        '```text',
        `$ reprise import ${file}`,
        stdout.trimEnd().replaceAll(session, known(session)),
        `$ reprise replay ${known(session)}`,
        ...lines.map((line) => line.replaceAll(session, known(session))),
        '```',
      ].join('\n'),
    );
  }
  const path = join(root, 'docs/guides/import.md');
  const page = readFileSync(path, 'utf8');
  const [before = '', after = ''] = [page.split(begin)[0], page.split(end)[1]];
  await expect(`${before}${begin}\n\n${screens.join('\n\n')}\n\n${end}${after}`).toMatchFileSnapshot(path);
});

/** Returns the id of a session; one that was minted is different each time. */
const known = (session: string): string => (/^[0-9a-f]{8}-[0-9a-f]{4}-7/.test(session) ? 'SESSION' : session);
