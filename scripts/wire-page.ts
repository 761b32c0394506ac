/** Makes the reference page of the wire from the schema and its comments. */
import { readdirSync, readFileSync } from 'node:fs';
import { type JsonObject, objectAt } from '../src/core/json.ts';
import { argumentsOf, kindOf } from '../src/server/calls/verb-arguments.ts';
import { type VerbName, verbTable } from '../src/server/calls/verb-table.ts';
import { type VerbExamples, verbExamples, wireExamples } from './wire-examples.ts';
import { wireWorld } from './wire-world.ts';

/** Where the page is kept, from the root of the repository. */
export const wirePagePath = 'docs/reference/wire.md';

const intro = `# The wire

Generated from \`src/server/calls/verbs\` and \`proto/reprise/v1\` by \`npm run docs:pages\`; edit it there.

A server answers a verb of the library with plain JSON: post its arguments as one object to \`/v1/VERB\`, and get the answer itself, or a line for each of many answers. Below, \`$SERVER\` is the address that \`reprise serve\` prints, and \`$REPRISE_TOKEN\` a token of all rights; the tests run every command on this page. See [the guide](../guides/serve.md).

- **Where** is said once. \`ref\` is \`session[/branch][@at]\`, such as \`demo\`, \`demo/careful\` or \`demo@12\`. A verb that writes to a branch takes one without \`@\`; \`branch.rewind\`, \`branch.revert\` and \`session.erase\` take one with it. Verbs of the tree take \`session\`, an id. \`namespace\` may be left out for \`default\`.
- **Again:** every verb that writes takes \`requestId\`. A repeated request with the same id gets the answer of the first, from the process that made it; an append is also known by the ids of its events, and a transaction by its id, at every server.
- **An argument** that the verb does not take, or of a wrong kind, is refused with its name. Of two equal keys in an object the last counts. A number that would be rounded is refused, and so is half of a surrogate pair. All of them have at most \`verbArgumentsBytesMax\` [bytes](limits.md).
- **An error** is \`{"error":{"code","message","hint","details"}}\` with [its code](errors.md) and the HTTP status. In the middle of many answers it is the last line, and the connection is cut.
- **An empty line** is a beat: it shows that the server is there.

\`GET /v1/replay/REF\` is \`look.replay\` for a browser. Its parameters are \`namespace\`, \`history\`, \`after\`, \`through\`, \`since\`, \`until\`, \`filter\`, \`direction\`, \`limit\`, \`follow\` and \`leaveOut\`.
`;

const services = `## By gRPC and Connect

The same port speaks gRPC, gRPC-web and Connect. \`VerbService\` has every verb above in two calls, with arguments and answers as JSON text. Appends and replays in bulk, transactions and the store port have messages with types. With curl, post the JSON form of a request to \`/SERVICE/CALL\`. A request of a stream comes after five bytes: a zero, and its length. gRPC reflection gives the schema to tools, and \`grpc.health.v1.Health/Check\` needs no token.

\`StudioService\` is for the pages of the studio of the same release and may change with them. Its runs need a server that was started with \`--agents\`; below, the agent \`payer\` asks before it pays.

An error has a detail of the type \`reprise.v1.Error\` with [its code](errors.md).
Whole numbers of 64 bits are strings in JSON, at most 2^53 - 1, and are read as numbers too. Fields called JSON text carry what the command line prints with \`--json\`.
`;

interface Field {
  readonly name: string;
  readonly type: string;
  readonly about: string;
}

/** Returns the page as text. */
export async function wirePage(): Promise<string> {
  const world = await wireWorld();
  const examples = wireExamples(world);
  const folder = new URL('../proto/reprise/v1/', import.meta.url);
  const text = readdirSync(folder)
    .toSorted()
    .map((name) => readFileSync(new URL(name, folder), 'utf8'))
    .join('\n');
  const messages = messagesIn(text);
  const found = [...text.matchAll(/((?:^\/\/ .*\n)+)service (\w+) \{\n([\s\S]*?)^\}/gm)];
  const sections = found.map(([, about = '', name = '', body = '']) =>
    [`## ${name}`, '', comment(about), '', ...callsIn(name, body, { messages, examples: { ...examples } })].join('\n'),
  );
  return [intro, ...verbSections(verbExamples(world)), services, ...sections].join('\n');
}

const handles: Readonly<Record<string, string>> = {
  reprise: 'A store.',
  look: 'A point.',
  branch: 'A branch.',
  session: 'A session as a tree of branches.',
  state: 'The state of one agent.',
  beliefs: 'The beliefs of a fleet.',
  fleet: 'The agents and tasks of a fleet.',
  coding: 'A coding session.',
  agent:
    'One agent: what it may see and write. A token that is bound to an agent gets these verbs and those of `state`.',
};

/** Returns the sections of the verbs, one for each handle. */
function verbSections(examples: VerbExamples): string[] {
  return Object.entries(handles).map(([handle, about]) => {
    const verbs = (Object.keys(examples) as VerbName[]).filter((verb) => verb.startsWith(`${handle}.`));
    return [`## ${handle}`, '', about, '', ...verbs.flatMap((verb) => verbLines(verb, examples[verb]))].join('\n');
  });
}

function verbLines(verb: VerbName, example: JsonObject): string[] {
  const entry = verbTable[verb];
  const named = Object.entries(argumentsOf(entry)).filter(([name]) => name !== 'namespace' && name !== 'requestId');
  const listed = (isOptional: boolean): string =>
    named
      .filter(([, kind]) => kindOf(kind)[1] === isOptional)
      .map(([name, kind]) => `\`${name}\` (${kindOf(kind)[0] === 'any' ? 'JSON' : kindOf(kind)[0]})`)
      .join(', ');
  const [needed, more] = [listed(false), listed(true)];
  const taken = [needed, more === '' ? '' : `optionally ${more}`].filter((part) => part !== '').join('; ');
  const rights = entry.rights.map((right) => `\`${right}\``).join(' and ');
  const taking = `Takes ${taken === '' ? 'nothing' : taken}. Needs ${rights}.`;
  const answers = entry.many === undefined ? '' : ' Answers with lines.';
  const curl = `curl -s ${token} "$SERVER/v1/${verb}" -d '${JSON.stringify(example)}'`;
  return [`### ${verb}`, '', `${entry.about} ${taking}${answers}`, '', '```sh', curl, '```', ''];
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
  const { place = {} } = example;
  return call.endsWith('/AbortTransaction')
    ? `${kept(plainCurl('StateService/BeginTransaction', { place }))}\n${curl}`
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
