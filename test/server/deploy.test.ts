/** The files for operators name only what `reprise serve` has. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { serve } from '../../src/cli/commands/serve.ts';
import { root } from '../docs/workshop.ts';

const flags = new Set((serve.options ?? []).flatMap(({ long }) => long ?? []));
const variables = new Set([
  'REPRISE_STORE',
  'REPRISE_TOKEN',
  ...(serve.options ?? []).flatMap(({ envVar }) => envVar ?? []),
]);

test('every option of serve has a variable of its name', () => {
  for (const { long, envVar } of serve.options ?? [])
    expect(envVar).toBe(`REPRISE_${long?.slice(2).toUpperCase().replaceAll('-', '_')}`);
});

test.each(['deploy/Dockerfile', 'deploy/compose.yaml', 'deploy/reprise.service'])(
  '%s names options of serve',
  (name) => {
    const text = readFileSync(join(root, name), 'utf8').replace(/^\s*#.*$/gm, '');
    const [, words = ''] = /serve((?:["', ]+[\w$:{}-]+)*)/.exec(text) ?? [];
    for (const flag of words.match(/--[a-z-]+/g) ?? []) expect(flags).toContain(flag);
    const named = text.match(/\bREPRISE_[A-Z_]+/g) ?? [];
    expect(named.length).toBeGreaterThan(0);
    for (const variable of named) if (variable !== 'REPRISE_NAME') expect(variables).toContain(variable);
  },
);
