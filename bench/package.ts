/** How long a program waits for `import 'reprise'`, as the package has it and as one file for each module. */
import { execFileSync } from 'node:child_process';
import { cpSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bundleCode } from '../scripts/bundle.ts';
import { alternate, atLeast, median, type Row, spread } from './measure.ts';
import type { Workspace } from './workspace.ts';

const root = join(import.meta.dirname, '..');
const fasterLeast = 1.7;

/** Rows of the package. */
export async function benchPackage(workspace: Workspace): Promise<Row[]> {
  const { rounds, isQuick } = workspace.sizes;
  const folder = workspace.path('package');
  await bundleCode({ folder: join(folder, 'bundled') });
  await bundleCode({ folder: join(folder, 'split'), isSplit: true });
  cpSync(join(root, 'package.json'), join(folder, 'package.json'));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const times = await alternate(isQuick ? 1 : Math.max(rounds, 9), {
    bundled: () => importTime(join(folder, 'bundled/index.js')),
    split: () => importTime(join(folder, 'split/index.js')),
  });
  return [
    atLeast({
      name: "import 'reprise': the package against a file for each module",
      value: median(times.split) / median(times.bundled),
      limit: fasterLeast,
      unit: '×',
      detail: `${spread(times.bundled)} against ${spread(times.split)}`,
      cause: 'reading and compiling our code',
    }),
  ];
}

/** Milliseconds that a fresh process takes to import a file. */
function importTime(file: string): number {
  const program = `const start = performance.now();
    await import(${JSON.stringify(pathToFileURL(file))});
    console.log(performance.now() - start);`;
  return Number(execFileSync(process.execPath, ['--input-type=module', '--eval', program], { encoding: 'utf8' }));
}
