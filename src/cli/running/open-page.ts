import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** The program that opens a page, by platform. */
const openers: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
};

/**
 * Opens a page in the browser of the user, and returns a function that cleans up. The address contains a token, and
 * every user of a machine can read the arguments of its programs: so the browser gets a file that only this user can
 * read.
 */
export function openPage(url: string): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'reprise-studio-'));
  const file = join(folder, 'open.html');
  const target = JSON.stringify(url).replaceAll('<', '\\u003c');
  writeFileSync(
    file,
    `<!doctype html><meta charset="utf-8"><title>Reprise</title><script>location.replace(${target})</script>`,
    {
      mode: 0o600,
    },
  );
  const [program, ...first] = openers[process.platform] ?? ['xdg-open'];
  const child = spawn(program, [...first, pathToFileURL(file).href], { stdio: 'ignore', detached: true });
  // Without a browser, the address that was printed is enough.
  child.on('error', () => undefined);
  child.unref();
  return () => rmSync(folder, { recursive: true, force: true });
}
