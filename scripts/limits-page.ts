/** Makes the reference page of limits from their names, values and comments. */
import { readFileSync } from 'node:fs';
import { type LimitName, limits } from '../src/core/limits.ts';

/** Where the page is kept, from the root of the repository. */
export const limitsPagePath = 'docs/reference/limits.md';

const intro = `# Limits

Generated from \`src/core/limits.ts\` by \`npm run docs:pages\`; edit it there.

Nothing is unbounded. A limit that refuses throws [\`limit.exceeded\`](errors.md#limitexceeded), whose details name the limit, its value and the size that was asked for.
Some limits do not refuse: past them something is cut, left out or done differently (a snapshot is kept, a page ends, a title is cut). Their line says so.
A program reads them from \`limits\`.
`;

/** Returns the page as text. */
export function limitsPage(): string {
  const source = readFileSync(new URL('../src/core/limits.ts', import.meta.url), 'utf8');
  const rows = Object.keys(limits).map((name) => {
    const about = new RegExp(`/\\*\\* (.*?) \\*/\\s*${name}:`).exec(source)?.[1];
    if (about === undefined) throw new Error(`The limit "${name}" has no comment`);
    return `| \`${name}\` | ${limits[name as LimitName].toLocaleString('en-US')} | ${about.replaceAll('|', '\\|')} |`;
  });
  return [intro, '| limit | value | |', '|---|--:|---|', ...rows, ''].join('\n');
}
