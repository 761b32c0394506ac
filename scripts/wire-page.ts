/** Makes the reference page of the wire from the schema and its comments. */
import { readdirSync, readFileSync } from 'node:fs';
import { type JsonObject, objectAt } from '../src/core/json.ts';
import { wireExamples } from './wire-examples.ts';
import { wireWorld } from './wire-world.ts';

/** Where the page is kept, from the root of the repository. */
export const wirePagePath = 'docs/reference/wire.md';

const intro = `# The wire

Generated from \`proto/reprise/v1\` by \`npm run docs:pages\`; edit it there.

A server speaks gRPC, gRPC-web and Connect on one port; see [the guide](../guides/serve.md). With curl, post the JSON form of a request to \`/SERVICE/CALL\`. A request of a stream stands behind five bytes: a zero, and its length. Below, \`$SERVER\` is the address that \`reprise serve\` prints, and \`$REPRISE_TOKEN\` a token of all rights; the tests run every command on this page. gRPC reflection gives the schema to tools, and \`grpc.health.v1.Health/Check\` needs no token.

\`StudioService\` is for the pages of the studio of the same release and may change with them. Its runs need a server that was started with \`--agents\`; below, the agent \`payer\` asks before it pays.

An error has a detail of the type \`reprise.v1.Error\` with [its code](errors.md).
Whole numbers of 64 bits are strings in JSON, at most 2^53 - 1, and are read as numbers too. Fields called JSON text hold what the command line prints with \`--json\`.
\`GET /v1/replay/REF\` is \`ReplayEvents\` as lines of JSON; an empty line is a beat. Its parameters are \`namespace\`, \`history\`, \`after\`, \`through\`, \`since\`, \`until\`, \`filter\`, \`direction\`, \`limit\`, \`follow\` and \`leaveOut\`.
`;

interface Field {
  readonly name: string;
  readonly type: string;
  readonly about: string;
}

/** Returns the page as text. */
export async function wirePage(): Promise<string> {
  const examples = wireExamples(await wireWorld());
  const folder = new URL('../proto/reprise/v1/', import.meta.url);
  const text = readdirSync(folder)
    .toSorted()
    .map((name) => readFileSync(new URL(name, folder), 'utf8'))
    .join('\n');
  const messages = messagesIn(text);
  const services = [...text.matchAll(/((?:^\/\/ .*\n)+)service (\w+) \{\n([\s\S]*?)^\}/gm)];
  const sections = services.map(([, about = '', name = '', body = '']) =>
    [`## ${name}`, '', comment(about), '', ...callsIn(name, body, { messages, examples: { ...examples } })].join('\n'),
  );
  return [intro, ...sections].join('\n');
}

interface PageParts {
  readonly messages: ReadonlyMap<string, readonly Field[]>;
  readonly examples: JsonObject;
}

function callsIn(service: string, body: string, { messages, examples }: PageParts): string[] {
  const calls = [...body.matchAll(/((?: *\/\/ .*\n)+) *rpc (\w+)\((stream )?(\w+)\) returns \((stream )?(\w+)\)/g)];
  return calls.flatMap(([, about = '', name = '', asked, request = '', stream, response = '']) => {
    const example = objectAt(objectAt(examples, service) ?? {}, `${name[0]?.toLowerCase()}${name.slice(1)}`) ?? {};
    const kind = asked !== undefined ? 'both' : stream !== undefined ? 'stream' : 'unary';
    return [
      `### ${name}`,
      '',
      comment(about),
      '',
      `Takes ${asked === undefined ? '' : 'a stream of '}${fieldList(messages.get(request))}. Returns ${stream === undefined ? '' : 'a stream of '}${fieldList(messages.get(response))}.`,
      '',
      '```sh',
      command(`${service}/${name}`, example, kind),
      '```',
      '',
    ];
  });
}

/** Returns the command of a call: a curl, behind the one that begins a transaction if the call ends it. */
function command(call: string, example: JsonObject, kind: 'unary' | 'stream' | 'both'): string {
  const curl = kind === 'unary' ? plainCurl(call, example) : streamCurl(call, example, kind);
  if (call.endsWith('/BeginTransaction')) return kept(curl);
  // The run is JSON text inside the answer, and its id comes first.
  if (call.endsWith('/StartRun'))
    return `RUN=$(${curl} |\n  sed 's/^{"run":"{\\\\"id\\\\":\\\\"\\([^\\\\]*\\).*/\\1/')`;
  const { transaction: _, ...place } = example;
  return call.endsWith('/AbortTransaction')
    ? `${kept(plainCurl('StateService/BeginTransaction', place))}\n${curl}`
    : curl;
}

const token = '-H "Authorization: Bearer $REPRISE_TOKEN"';

function kept(curl: string): string {
  return `TRANSACTION=$(${curl} |\n  sed 's/.*"transaction":"\\([^"]*\\)".*/\\1/')`;
}

function plainCurl(call: string, example: JsonObject): string {
  const json = JSON.stringify(example);
  // In double quotes the shell fills in the transaction or the run.
  const data = json.includes('$') ? JSON.stringify(json) : `'${json}'`;
  return `curl -s ${token} -H 'Content-Type: application/json' \\\n  -d ${data} "$SERVER/reprise.v1.${call}"`;
}

function streamCurl(call: string, example: JsonObject, kind: 'stream' | 'both'): string {
  const json = JSON.stringify(example);
  const length = Buffer.byteLength(json);
  const bytes = [24, 16, 8, 0].map((shift) => `\\${((length >> shift) & 255).toString(8).padStart(3, '0')}`).join('');
  const how = kind === 'both' ? ' --http2-prior-knowledge' : /\/(?:Watch|Follow)$/.test(call) ? ' -m 1' : '';
  const sent = `-H 'Content-Type: application/connect+json' --data-binary @- "$SERVER/reprise.v1.${call}"`;
  return `printf '\\000${bytes}%s' '${json}' |\n  curl -s${how} ${token} ${sent}`;
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
