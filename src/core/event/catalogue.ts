import { given, type JsonObject, type JsonValue } from '../json.ts';
import { type EventSpec, field, need } from './event-spec.ts';
import { graphTypes } from './families/graph.ts';
import { structuralTypes } from './families/structural.ts';
import { ownedKey, plainKey } from './keys.ts';
import { isOperation, operationsFault } from './state-operation.ts';

const id = { role: 'id' } as const;
const noise = { role: 'noise' } as const;

const outcome = need('string', 'How it ended: ok, error, aborted, interrupted or budget.');
const error = field('object', 'What went wrong: `{ name, message, code? }`.');
const reason = field('string', 'Why, in the words of who did it.', noise);

const callKeys = (data: JsonObject): readonly string[] => [plainKey('call', String(data['call']))];
const taskKeys = (data: JsonObject): readonly string[] => [plainKey('task', String(data['task']))];
const topicKeys = (data: JsonObject): readonly string[] => [
  plainKey('topic', typeof data['topic'] === 'string' ? data['topic'] : ''),
];

function agentKeys(_data: JsonObject, agent: string | undefined): readonly string[] {
  return agent === undefined ? [] : [plainKey('agent', agent)];
}

function stateKeys(data: JsonObject): readonly string[] {
  const operations: JsonValue | undefined = data['operations'];
  if (!Array.isArray(operations)) return [];
  // Data of another version is not checked when it is written: what has another form is under no key of anyone.
  return operations
    .filter(isOperation)
    .map((operation) => ownedKey('state', String(operation['agent']), String(operation['key'])));
}

function spec(
  about: string,
  fields: EventSpec['fields'],
  example: EventSpec['example'],
  keys?: EventSpec['keys'],
): EventSpec {
  return { version: 1, about, fields, structural: false, example, ...given({ keys }) };
}

const runs = {
  'run.started': spec(
    'An execution of agent code began.',
    {
      title: field('string', 'What a person calls it.', noise),
      program: field('object', 'What was started: `{ command, arguments, cwd? }`.', noise),
      versions: field('object', 'Versions of Node, Reprise and the framework.', noise),
      git: field('object', '`{ branch, sha, dirty }` of the working tree.', noise),
      configDigest: field('string', 'A digest of the configuration.', noise),
      resumed: field('object', 'Set when a branch was resumed: who resumed it and how.', noise),
    },
    { title: 'Refund of order 7', git: { branch: 'main', sha: '1a2b3c', dirty: false } },
  ),
  'run.ended': spec(
    'An execution of agent code ended.',
    {
      outcome,
      result: field('any', 'What it gave back.'),
      error,
      fingerprint: field('string', 'The fingerprint of the history before this event.', noise),
    },
    { outcome: 'ok', result: 'Refunded.' },
  ),
  'turn.started': spec('A turn of the story began.', { title: field('string', 'What the turn is about.', noise) }, {}),
  'turn.ended': spec('A turn of the story ended.', { outcome: field('string', 'How it ended.') }, { outcome: 'ok' }),
} satisfies Record<string, EventSpec>;

const talk = {
  'message.added': spec(
    'A message joined the conversation.',
    {
      message: need('object', 'The message: `{ role, content }`, in the neutral form of `ModelMessage`.', {
        storage: 'part',
      }),
    },
    { message: { role: 'user', content: 'Where is my refund?' } },
  ),
  'settings.changed': spec(
    'What every later model call is made with was changed.',
    {
      model: field('string', 'The model.'),
      system: field('string', 'The system prompt.'),
      tools: field('array', 'The tool definitions.', { storage: 'list' }),
      settings: field('object', 'Temperature, limits and the like.'),
    },
    { model: 'large-1', system: 'Be brief.' },
  ),
  'call.started': spec(
    'A question was put to the outside world.',
    {
      call: need('string', 'The id of the call.', id),
      kind: need('string', 'model, tool, http, mcp, process or person.'),
      name: need('string', 'The model, the tool, the address.'),
      effect: field('string', 'pure, idempotent, irreversible or unknown.', noise),
      annotations: field('object', 'Of an MCP tool: what its server says of it.', noise),
      input: field('any', 'The arguments.'),
      'request.system': field('string', 'The system prompt a model was sent.', { storage: 'part' }),
      'request.messages': field('array', 'What a model was sent: every message, in order.', { storage: 'list' }),
      'request.tools': field('array', 'The tool definitions it was sent.', { storage: 'list' }),
      'request.settings': field('object', 'Temperature, limits and the like.'),
      'request.body': field('string', 'The raw body as sent.', { role: 'noise', storage: 'body' }),
    },
    { call: 'c7', kind: 'tool', name: 'refund', effect: 'irreversible', input: { order: 7 } },
    callKeys,
  ),
  'call.ended': spec(
    'The answer of the outside world.',
    {
      call: need('string', 'The id of the call.', id),
      kind: need('string', 'model, tool, http, mcp, process or person.'),
      name: need('string', 'The model, the tool, the address.'),
      outcome,
      output: field('any', 'What came back.'),
      message: field('object', 'What a model said.', { storage: 'part' }),
      'response.body': field('string', 'The raw body as received.', { role: 'noise', storage: 'body' }),
      finishReason: field('string', 'Why a model stopped.'),
      error,
      usage: field('object', '`{ inputTokens, outputTokens, … }`.', noise),
      cost: field('number', 'In US dollars; left out where the price is unknown.', noise),
      latencyMs: field('number', 'How long it took.', noise),
      firstTokenMs: field('number', 'How long until the first token.', noise),
      attempts: field('number', 'How many tries it took.', noise),
      failedAttempts: field('array', '`{ status?, error?, latencyMs }` of the tries before the last.', noise),
      provider: field('object', 'Ids and metadata of the provider.', noise),
      reused: field('boolean', 'Whether the answer was taken from the record.', noise),
    },
    { call: 'c7', kind: 'tool', name: 'refund', outcome: 'ok', output: { refunded: true }, latencyMs: 182 },
    callKeys,
  ),
} satisfies Record<string, EventSpec>;

const knowledge = {
  'state.committed': {
    ...spec(
      'An atomic transaction wrote state.',
      { operations: need('array', '`{ agent, key, op: "write" | "delete", value?, version }`, in order.') },
      { operations: [{ agent: 'default', key: 'plan', op: 'write', value: { next: 'ask' }, version: 1 }] },
      stateKeys,
    ),
    check: operationsFault,
  },
  'belief.committed': spec(
    'An agent committed to a claim.',
    {
      claim: need('string', 'What is believed.'),
      topic: field('string', 'What it is about.'),
      kind: field('string', 'fact, decision, calculation or constraint.'),
      value: field('any', 'The claim as a value.'),
      trust: field('number', 'How far it is trusted, 0 to 1.'),
    },
    { claim: 'The pool is exhausted', topic: 'database', kind: 'fact', trust: 0.8 },
    topicKeys,
  ),
  'belief.superseded': spec(
    'A newer claim took the place of an older one.',
    {
      belief: need('string', 'The event id of the older claim.', id),
      by: field('string', 'The event id of the newer one.', id),
      topic: field('string', 'What both are about.'),
      reason,
    },
    { belief: '0199…', by: '0199…', topic: 'database' },
    topicKeys,
  ),
  'contradiction.detected': spec(
    'Two claims were found to contradict each other.',
    {
      beliefs: need('array', 'The event ids of the claims.', id),
      topic: field('string', 'What they are about.'),
      score: field('number', 'How sure the check is.', noise),
    },
    { beliefs: ['0199…', '019a…'], topic: 'database' },
    topicKeys,
  ),
  'contradiction.settled': spec(
    'A contradiction was settled.',
    {
      winner: field('string', 'The event id of the claim that stands.', id),
      strategy: need('string', 'How it was decided.'),
      topic: field('string', 'What it was about.'),
      reason,
    },
    { winner: '019a…', strategy: 'highest-trust', topic: 'database' },
    topicKeys,
  ),
  'decision.made': spec(
    'A decision was made.',
    { decision: need('string', 'What was decided.'), reason },
    { decision: 'Retry with a larger pool' },
  ),
  'evidence.added': spec(
    'Something was found that a claim can rest on.',
    {
      title: field('string', 'What it is.'),
      content: field('any', 'What it says.'),
      source: field('string', 'Where it comes from.'),
    },
    { title: 'Pool metrics', source: 'grafana' },
  ),
  'goal.set': spec(
    'What the work is for was set.',
    { goal: need('string', 'The goal.'), details: field('string', 'More about it.') },
    { goal: 'Make the parser tests pass' },
  ),
  'constraint.set': spec(
    'Something the work must respect was set.',
    {
      key: need('string', 'Its name.'),
      value: field('any', 'Its value.'),
      text: field('string', 'In words.'),
      strength: field('string', 'hard or soft.'),
    },
    { key: 'no-network', text: 'Do not call the network', strength: 'hard' },
  ),
  'risk.quarantined': spec(
    'Something unsafe was set aside.',
    {
      title: need('string', 'What it is.'),
      content: field('any', 'The unsafe content.'),
      source: field('string', 'Where it came from.'),
      reason,
    },
    { title: 'Instructions in tool output', source: 'web' },
  ),
} satisfies Record<string, EventSpec>;

const work = {
  'agent.spawned': spec(
    'An agent joined.',
    {
      role: field('string', 'What it is for.'),
      scope: field('array', 'The topics it may see; all of them if left out.'),
      model: field('string', 'Its model.'),
    },
    { role: 'reviewer', scope: ['database'] },
    agentKeys,
  ),
  'agent.changed': spec(
    'What an agent is or may see was changed.',
    { role: field('string', 'What it is for.'), scope: field('array', 'The topics it may see.') },
    { scope: ['database', 'network'] },
    agentKeys,
  ),
  'agent.ended': spec(
    'An agent left.',
    { outcome: field('string', 'How it ended.'), reason },
    { outcome: 'ok' },
    agentKeys,
  ),
  'task.started': spec(
    'A unit of work was handed out.',
    {
      task: need('string', 'The id of the task.', id),
      title: field('string', 'What it is.'),
      prompt: field('string', 'What was asked.'),
      role: field('string', 'Who it is for.'),
    },
    { task: 't1', title: 'Fix the parser' },
    taskKeys,
  ),
  'task.claimed': spec(
    'An agent took a task.',
    { task: need('string', 'The id of the task.', id), model: field('string', 'The model it works with.') },
    { task: 't1', model: 'large-1' },
    taskKeys,
  ),
  'task.ended': spec(
    'A task ended.',
    {
      task: need('string', 'The id of the task.', id),
      outcome,
      result: field('any', 'What it gave.'),
      error,
      cost: field('number', 'In US dollars.', noise),
    },
    { task: 't1', outcome: 'ok' },
    taskKeys,
  ),
  'verification.failed': spec(
    'A check of finished work failed.',
    { task: field('string', 'The id of the task.', id), signals: need('array', 'What failed.') },
    { task: 't1', signals: ['tests'] },
  ),
  'tests.ran': spec(
    'A test command ran.',
    {
      command: need('string', 'The command.'),
      exitCode: need('number', 'Its exit code.'),
      framework: field('string', 'The test framework.'),
      failures: field('array', '`{ test, file?, name?, message? }`.'),
      passed: field('array', 'The tests that passed.'),
    },
    { command: 'npm test', exitCode: 1, failures: [{ test: 'parser' }] },
  ),
  'file.patched': spec(
    'A file was changed.',
    { path: need('string', 'The file.'), patch: field('string', 'The change.'), summary: field('string', 'In words.') },
    { path: 'src/parser.ts' },
    (data) => [plainKey('file', String(data['path']))],
  ),
  'request.prepared': spec(
    'A model request was prepared.',
    { request: need('object', 'The request and the arguments it was made from.') },
    { request: { model: 'large-1' } },
  ),
  'note.added': spec(
    'Something worth keeping was noted.',
    { text: need('string', 'The note.') },
    { text: 'Customer called twice' },
  ),
  'session.imported': spec(
    'What follows was read from a file of another system.',
    {
      format: need('string', 'The format of the file.'),
      events: field('number', 'How many events the file held.', noise),
      head: field('string', 'What stood before the first of them, verbatim.', noise),
      tail: field('string', 'What stood after the last.', noise),
      between: field('any', 'What stood between two of them.', noise),
    },
    { format: 'shipit', events: 2 },
  ),
  'metadata.changed': spec(
    "The session's metadata was changed; a null removes a key.",
    { set: need('object', 'Keys and their values.', noise) },
    { set: { owner: 'support' } },
    (data) => Object.keys((data['set'] ?? {}) as JsonObject).map((key) => plainKey('metadata', key)),
  ),
} satisfies Record<string, EventSpec>;

/**
 * The types Reprise writes itself. What it reads is open: unknown types are kept, shown and filtered like any other.
 *
 * @example
 * ```ts
 * console.log(eventTypes['call.ended'].about, Object.keys(eventTypes['call.ended'].fields));
 * ```
 */
export const eventTypes: Readonly<Record<string, EventSpec>> = {
  ...runs,
  ...talk,
  ...knowledge,
  ...work,
  ...graphTypes,
  ...structuralTypes,
};

/** What Reprise knows of a type, or undefined for a type it does not write itself. */
export function specOf(type: string): EventSpec | undefined {
  return Object.hasOwn(eventTypes, type) ? eventTypes[type] : undefined;
}
