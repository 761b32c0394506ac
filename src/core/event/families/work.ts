import { arrayAt, isArray, isObject, type JsonObject, type JsonValue, objectAt } from '../../json.ts';
import { type EventSpec, eventType, type FieldFault, field, need } from '../event-spec.ts';
import type { GistWriter } from '../gist-writer.ts';
import { plainKey } from '../keys.ts';
import { error, id, noise, outcome, reason } from './shared-fields.ts';

const task = need('string', 'The id of the task.', id);

const trust = field('number', 'How far its claims are trusted, 0 to 1.');
const trustOn = field('object', 'How far its claims on single topics are trusted.');

const taskKeys = (data: JsonObject): readonly string[] => [plainKey('task', String(data['task']))];
const agentKeys = (_data: JsonObject, agent: string | undefined): readonly string[] =>
  agent === undefined ? [] : [plainKey('agent', agent)];

const roleText = (role: JsonValue | undefined, write: GistWriter): string => write.text(role, (text) => `role ${text}`);

/** Agents and their tasks, and the changes, tests and notes of the work. */
export const workTypes: Readonly<Record<string, EventSpec>> = {
  'agent.spawned': eventType('An agent joined.', {
    fields: {
      role: field('string', 'The purpose of the agent.'),
      scope: field('any', 'The topics it may see, or `all`; all of them if left out.'),
      model: field('string', 'Its model.'),
      trust,
      trustOn,
      fromTurn: field('number', 'The turn from which on it is there; that of the event if left out.'),
    },
    check: scopeFault,
    keys: agentKeys,
    gist: (data, write) => [
      roleText(data['role'], write),
      write.text(data['model']),
      scopeText(data, write),
      write.number('trust', data['trust']),
      write.number('from turn', data['fromTurn']),
    ],
    audited: true,
    example: { role: 'reviewer', scope: ['database'] },
  }),
  'agent.changed': eventType('The role, scope, model or trust of an agent was changed.', {
    fields: {
      role: field('string', 'The purpose of the agent.'),
      scope: field('any', 'The topics it may see, or `all`.'),
      model: field('string', 'Its model.'),
      trust,
      trustOn,
    },
    check: scopeFault,
    keys: agentKeys,
    gist: (data, write) => [
      roleText(data['role'], write),
      write.text(data['model']),
      scopeText(data, write),
      write.number('trust', data['trust']),
    ],
    audited: true,
    example: { scope: ['database', 'network'] },
  }),
  'agent.ended': eventType('An agent left.', {
    fields: { outcome: field('string', 'How it ended.'), reason },
    keys: agentKeys,
    gist: (data, write) => [write.outcome(data), write.quote(data['reason'])],
    audited: true,
    example: { outcome: 'ok' },
  }),
  'task.started': eventType('A unit of work was handed out.', {
    fields: {
      task,
      title: field('string', 'The title of the task.'),
      prompt: field('string', 'The assignment.'),
      role: field('string', 'The role it is for.'),
    },
    keys: taskKeys,
    gist: ({ title, role, prompt }, write) => [write.text(title), roleText(role, write), write.text(prompt)],
    audited: true,
    example: { task: 't1', title: 'Fix the parser' },
  }),
  'task.claimed': eventType('An agent took a task.', {
    fields: { task, model: field('string', 'The model it works with.') },
    keys: taskKeys,
    gist: ({ model }, write) => [write.text(model)],
    audited: true,
    example: { task: 't1', model: 'large-1' },
  }),
  'task.ended': eventType('A task ended.', {
    fields: {
      task,
      outcome,
      result: field('any', 'The result of the task.'),
      error,
      cost: field('number', 'In US dollars.', noise),
    },
    keys: taskKeys,
    gist: (data, write) => [write.outcome(data), ...write.spending(data), write.value(data['result'])],
    audited: true,
    example: { task: 't1', outcome: 'ok' },
  }),
  'verification.failed': eventType('A check of finished work failed.', {
    fields: { task: field('string', 'The id of the task.', id), signals: need('array', 'The checks that failed.') },
    gist: ({ signals }, write) => [`failed: ${write.list(signals)}`],
    audited: true,
    example: { task: 't1', signals: ['tests'] },
  }),
  'tests.ran': eventType('A test command ran.', {
    fields: {
      command: need('string', 'The command.'),
      exitCode: need('number', 'Its exit code.'),
      framework: field('string', 'The test framework.'),
      failures: field('array', '`{ test, file?, name?, errorType?, message? }`.'),
      passed: field('array', 'The tests that passed.'),
      skipped: field('array', 'The tests that were skipped.'),
      selection: field('any', 'The tests asked for: "all", a list of files, folders and ids, or `{ prefix }`.'),
      finished: field('boolean', 'Whether the run came to the end of its tests.'),
      call: field('string', 'The call that ran the command.', id),
    },
    slot: ({ command }) => [command],
    gist: (data, write) => [write.text(data['command']), exitText(data), failuresText(data, write)],
    example: { command: 'npm test', exitCode: 1, failures: [{ test: 'parser' }] },
  }),
  'file.patched': eventType('A file was changed.', {
    fields: {
      path: need('string', 'The file.'),
      patch: field('string', 'The change.'),
      summary: field('string', 'In words.'),
      before: field('any', 'The whole file before the change; null if there was none.', {
        ...noise,
        storage: 'part',
      }),
      after: field('any', 'The whole file after the change; null if it was removed.', { storage: 'part' }),
    },
    keys: (data) => [plainKey('file', String(data['path']))],
    slot: ({ path }) => [path],
    gist: ({ path, summary }, write) => [write.text(path), write.text(summary)],
    example: { path: 'src/parser.ts' },
  }),
  'request.prepared': eventType('A model request was prepared.', {
    fields: { request: need('object', 'The request and the arguments it was made from.') },
    example: { request: { model: 'large-1' } },
  }),
  'procedure.added': eventType('A way of doing something in this project was learned.', {
    fields: { title: field('string', 'Its name.'), text: need('string', 'How it is done.') },
    gist: ({ title, text }, write) => [write.text(title), write.text(text)],
    example: { title: 'Run the tests', text: 'npm run test:unit' },
  }),
  'note.added': eventType('Something worth keeping was noted.', {
    fields: { text: need('string', 'The note.') },
    gist: ({ text }, write) => [write.text(text)],
    example: { text: 'Customer called twice' },
  }),
  'session.imported': eventType('The events that follow were read from a source of a different system.', {
    fields: {
      format: need('string', 'The format of the source.'),
      events: field('number', 'How many units the file held.', noise),
      head: field('string', 'The text before the first of them, verbatim.', { ...noise, storage: 'part' }),
      tail: field('string', 'The text after the last.', { ...noise, storage: 'part' }),
      between: field('any', 'The text between two of them.', { ...noise, storage: 'part' }),
      source: field('string', 'The id of the session in its own system.', noise),
      file: field('string', 'The file that the text is from; empty for the main one.', noise),
      stretches: field('array', 'The pieces that are repeated in the units, which name them by their place here.', {
        ...noise,
        storage: 'list',
      }),
    },
    gist: ({ format, source }, write) => [write.text(format), write.text(source)],
    example: { format: 'claude-code', source: '4e836284' },
  }),
  'source.kept': eventType('A unit of a foreign source was kept that has no meaning here.', {
    fields: { reason: field('string', 'Why it has none, if that is worth a warning.', noise) },
    gist: ({ foreign, reason: why }, write) => [
      write.text(isObject(foreign) ? foreign['type'] : undefined),
      write.text(why),
    ],
    example: { foreign: { type: 'queue-operation', at: 7, text: '{"type":"queue-operation"}' } },
  }),
  'metadata.changed': eventType("The session's metadata was changed; a null removes a key.", {
    fields: { set: need('object', 'Keys and their values.', noise) },
    keys: (data) => Object.keys(objectAt(data, 'set') ?? {}).map((key) => plainKey('metadata', key)),
    example: { set: { owner: 'support' } },
  }),
};

/** A scope is a list of topics, or the word `all`. */
function scopeFault({ scope }: JsonObject): FieldFault | undefined {
  if (scope === undefined || scope === null || scope === 'all') return undefined;
  if (isArray(scope) && scope.every((topic) => typeof topic === 'string')) return undefined;
  return { field: 'scope', why: 'it must be a list of topics, or "all"' };
}

function scopeText(data: JsonObject, write: GistWriter): string {
  if (data['scope'] === 'all') return 'sees everything';
  const scope = arrayAt(data, 'scope');
  if (scope === undefined) return '';
  return `sees ${scope.length === 0 ? 'nothing' : write.list(scope)}`;
}

function exitText({ exitCode }: JsonObject): string {
  return exitCode === undefined ? '' : `exit ${String(exitCode)}`;
}

function failuresText(data: JsonObject, write: GistWriter): string {
  const failures = arrayAt(data, 'failures') ?? [];
  if (failures.length === 0) return '';
  const names = failures.map((failure) => (isObject(failure) ? String(failure['test'] ?? failure['name']) : '?'));
  return `failed: ${write.list(names)}`;
}
