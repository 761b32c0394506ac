/** Writes one folder again and again, with two contents in turn: it is meant to be killed on the way. */
import { writeFolder } from '../../src/node/folder-writer.ts';
import { folderContent } from './export-content.ts';

const [path = ''] = process.argv.slice(2);
for (let round = 0; ; round++) {
  await writeFolder(path, folderContent(round % 2), { replace: true });
  process.stdout.write('written\n');
}
