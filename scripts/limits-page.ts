/** The reference page of limits, made from their names, values and comments. */
import { readFileSync } from 'node:fs';
import { type LimitName, limits } from '../src/core/limits.ts';

/** Where the page is kept, from the root of the repository. */
export const limitsPagePath = 'docs/reference/limits.md';

const intro = `# Limits

Generated from \`src/core/limits.ts\` by \`npm run docs:pages\`; edit it there.

Nothing is unbounded: every maximum has a name, and reaching it is the error [\`limit.exceeded\`](errors.md#limitexceeded), whose details name the limit, its value and what was asked for.
A program reads them from \`limits\`. A few are not refusals but sizes at which something is done another way (a snapshot is kept, a page ends, a diff stops giving details); their line says so.
`;

/** The page as text. */
export function limitsPage(): string {
  const source = readFileSync(new URL('../src/core/limits.ts', import.meta.url), 'utf8');
  const rows = Object.keys(limits).map((name) => {
    const about = new RegExp(`/\\*\\* (.*?) \\*/\\s*${name}:`).exec(source)?.[1];
    if (about === undefined) throw new Error(`The limit "${name}" has no comment`);
    return `| \`${name}\` | ${limits[name as LimitName].toLocaleString('en-US')} | ${about.replaceAll('|', '\\|')} |`;
  });
  return [intro, '| limit | value | |', '|---|--:|---|', ...rows, ''].join('\n');
}
