#!/usr/bin/env node
// This file imports nothing that an old Node lacks, so that it can say what is needed.
const needed = [22, 20] as const;

const { node } = process.versions;
const [major = 0, minor = 0] = node.split('.').map(Number);
if (major > needed[0] || (major === needed[0] && minor >= needed[1])) await import('./program.ts');
else {
  const message = `Cannot run Reprise on Node ${node}: it needs Node ${needed.join('.')} or later`;
  const hint = 'Install a newer Node from nodejs.org, or with your version manager.';
  const isJson = process.argv.some((word) => /^--json(?:=|$)/.test(word));
  const text = isJson ? JSON.stringify({ error: { code: 'node.too-old', message, hint } }) : `${message}\n${hint}`;
  process.stderr.write(`${text}\n`);
  process.exitCode = 3;
}

export {};
