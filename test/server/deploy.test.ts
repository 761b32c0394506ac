/** The files for operators name only what `reprise serve` has. */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { serve } from '../../src/cli/commands/serve.ts';
import { createNodePlatform } from '../../src/node/platform.ts';
import { serve as serveStore } from '../../src/server.ts';
import { openMemoryStore } from '../../src/store/memory/memory-store.ts';
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

const docker = readFileSync(join(root, 'deploy/Dockerfile'), 'utf8').replace(/\\\n/g, ' ');
const project = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly name: string;
  readonly bin: Readonly<Record<string, string>>;
  readonly scripts: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
};

test('the Dockerfile copies files that are there, and runs commands that are there', () => {
  const copied = [...docker.matchAll(/^COPY (?!--)(.*) \S+$/gm)].flatMap(([, files = '']) => files.split(' '));
  expect(copied).toContain('package-lock.json');
  for (const file of copied) expect(existsSync(join(root, file)), file).toBe(true);
  const ignored = readFileSync(join(root, '.dockerignore'), 'utf8').split('\n');
  for (const file of copied) expect(ignored).not.toContain(file);
  for (const [, script = ''] of docker.matchAll(/npm run ([\w:]+)/g))
    expect(Object.keys(project.scripts)).toContain(script);
  for (const [, name = ''] of docker.matchAll(/\/(\w+)-\*\.tgz/g)) expect(name).toBe(project.name);
  const [, entry = ''] = /^ENTRYPOINT \["(\w+)"\]$/m.exec(docker) ?? [];
  expect(Object.keys(project.bin)).toContain(entry);
});

test('the Dockerfile has the Node and the driver that the tests have', () => {
  const [major = ''] = project.devDependencies['node']?.split('.') ?? [];
  for (const [, image] of docker.matchAll(/^FROM (\S+)/gm)) expect(image).toBe(`node:${major}-bookworm-slim`);
  expect(docker).toContain(`postgres@${project.devDependencies['postgres']}`);
});

test('the health check of the image passes on a server of any name', async () => {
  const [, code = ''] = /^HEALTHCHECK .*"-e", "(.*)"\]$/m.exec(docker) ?? [];
  const store = openMemoryStore({ platform: createNodePlatform() });
  await using server = await serveStore({ store, port: 0, hostNames: ['reprise.example.com'] });
  const asked = code.replace('127.0.0.1:7717', new URL(server.url).host);
  expect(asked).not.toBe(code);
  await promisify(execFile)(process.execPath, ['-e', asked]);
  expect(docker).toContain('EXPOSE 7717');
});

test('a server is called by the names it was given, however they are written, and by those of its machine', async () => {
  const store = openMemoryStore({ platform: createNodePlatform() });
  const statusOf = (url: string, host: string): Promise<number | undefined> =>
    new Promise((resolve) => {
      get(`${url}/metrics`, { headers: { host } }, (answer) => resolve(answer.resume().statusCode)).end();
    });
  await using server = await serveStore({ store, port: 0, hostNames: ['Reprise.example.com'] });
  const { port } = new URL(server.url);
  const hosts = ['reprise.example.com', 'REPRISE.example.com:8443', `127.0.0.1:${port}`, 'localhost', 'example.com'];
  const statuses = await Promise.all(hosts.map((host) => statusOf(server.url, host)));
  expect(statuses).toEqual([401, 401, 401, 401, 403]);
  for (const name of ['example.com:8443', 'https://example.com', 'a/b', ''])
    await expect(serveStore({ store, port: 0, hostNames: [name] })).rejects.toMatchObject({ code: 'option.invalid' });
});
