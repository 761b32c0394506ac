/** Makes the reference page of the wire from the schema and its comments. */
import { readdirSync, readFileSync } from 'node:fs';

/** Where the page is kept, from the root of the repository. */
export const wirePagePath = 'docs/reference/wire.md';

const intro = `# The wire

Generated from \`proto/reprise/v1\` by \`npm run docs:pages\`; edit it there.

A server speaks gRPC, gRPC-web and Connect on one port; see [the guide](../guides/serve.md). With curl, post the JSON form of a request to \`/SERVICE/CALL\`. An error has a detail of the type \`reprise.v1.Error\` with [its code](errors.md).
Whole numbers of 64 bits are strings in JSON, at most 2^53 - 1, and are read as numbers too. Fields called JSON text hold what the command line prints with \`--json\`.
\`GET /v1/replay/REF\` is \`ReplayEvents\` as lines of JSON; an empty line is a beat. Its parameters are \`namespace\`, \`history\`, \`after\`, \`through\`, \`since\`, \`until\`, \`filter\`, \`direction\`, \`limit\`, \`follow\` and \`leaveOut\`.
`;

interface Field {
  readonly name: string;
  readonly type: string;
  readonly about: string;
}

/** Returns the page as text. */
export function wirePage(): string {
  const folder = new URL('../proto/reprise/v1/', import.meta.url);
  const text = readdirSync(folder)
    .toSorted()
    .map((name) => readFileSync(new URL(name, folder), 'utf8'))
    .join('\n');
  const messages = messagesIn(text);
  const services = [...text.matchAll(/((?:^\/\/ .*\n)+)service (\w+) \{\n([\s\S]*?)^\}/gm)];
  const sections = services.map(([, about = '', name = '', body = '']) =>
    [`## ${name}`, '', comment(about), '', ...callsIn(body, messages)].join('\n'),
  );
  return [intro, ...sections].join('\n');
}

function callsIn(body: string, messages: ReadonlyMap<string, readonly Field[]>): string[] {
  const calls = [...body.matchAll(/((?: *\/\/ .*\n)+) *rpc (\w+)\((\w+)\) returns \((stream )?(\w+)\)/g)];
  return calls.flatMap(([, about = '', name = '', request = '', stream, response = '']) => [
    `### ${name}`,
    '',
    comment(about),
    '',
    `Takes ${fieldList(messages.get(request))}. Returns ${stream === undefined ? '' : 'a stream of '}${fieldList(messages.get(response))}.`,
    '',
  ]);
}

function fieldList(fields: readonly Field[] = []): string {
  if (fields.length === 0) return 'nothing';
  return fields
    .map(({ name, type, about }) => `\`${name}\` (${type}${about === '' ? '' : `: ${about.replace(/\.$/, '')}`})`)
    .join(', ');
}

function messagesIn(text: string): ReadonlyMap<string, readonly Field[]> {
  const found = [...text.matchAll(/^message (\w+) \{\n([\s\S]*?)^\}/gm)];
  return new Map(found.map(([, name = '', body = '']) => [name, fieldsIn(body)]));
}

function fieldsIn(body: string): Field[] {
  const own = body.replace(/^ {2}message \w+ \{[\s\S]*?^ {2}\}/gm, '');
  const fields = [...own.matchAll(/((?: *\/\/ .*\n)*) {2,4}((?:optional |repeated )?\w+) (\w+) = \d+;/g)];
  return fields.map(([, about = '', type = '', name = '']) => ({ name: camel(name), type, about: comment(about) }));
}

function comment(text: string): string {
  return text
    .split('\n')
    .map((line) => line.replace(/^ *\/\/ ?/, ''))
    .join(' ')
    .trim();
}

function camel(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}
