import { arrayAt, isObject, type JsonObject, type JsonValue, objectAt } from '../../json.ts';
import { type EventSpec, eventType, field, need } from '../event-spec.ts';
import type { GistWriter } from '../gist-writer.ts';
import { plainKey } from '../keys.ts';
import { error, id, noise, outcome, reason } from './shared-fields.ts';

const task = need('string', 'The id of the task.', id);

const taskKeys = (data: JsonObject): readonly string[] => [plainKey('task', String(data['task']))];
const agentKeys = (_data: JsonObject, agent: string | undefined): readonly string[] =>
  agent === undefined ? [] : [plainKey('agent', agent)];

const roleText = (role: JsonValue | undefined, write: GistWriter): string => write.text(role, (text) => `role ${text}`);

/** Agents and their tasks, and the changes, tests and notes of the work. */
export const workTypes: Readonly<Record<string, EventSpec>> = {
  'agent.spawned': eventType('An agent joined.', {
    fields: {
      role: field('string', 'The purpose of the agent.'),
      scope: field('array', 'The topics it may see; all of them if left out.'),
      model: field('string', 'Its model.'),
    },
    keys: agentKeys,
    gist: (data, write) => [roleText(data['role'], write), write.text(data['model']), scopeText(data, write)],
    example: { role: 'reviewer', scope: ['database'] },
  }),
  'agent.changed': eventType('The role or scope of an agent was changed.', {
    fields: {
      role: field('string', 'The purpose of the agent.'),
      scope: field('array', 'The topics it may see.'),
    },
    keys: agentKeys,
    gist: (data, write) => [roleText(data['role'], write), scopeText(data, write)],
    example: { scope: ['database', 'network'] },
  }),
  'agent.ended': eventType('An agent left.', {
    fields: { outcome: field('string', 'How it ended.'), reason },
    keys: agentKeys,
    gist: (data, write) => [write.outcome(data), write.quote(data['reason'])],
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
    example: { task: 't1', title: 'Fix the parser' },
  }),
  'task.claimed': eventType('An agent took a task.', {
    fields: { task, model: field('string', 'The model it works with.') },
    keys: taskKeys,
    gist: ({ model }, write) => [write.text(model)],
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
    example: { task: 't1', outcome: 'ok' },
  }),
  'verification.failed': eventType('A check of finished work failed.', {
    fields: { task: field('string', 'The id of the task.', id), signals: need('array', 'The checks that failed.') },
    gist: ({ signals }, write) => [`failed: ${write.list(signals)}`],
    example: { task: 't1', signals: ['tests'] },
  }),
  'tests.ran': eventType('A test command ran.', {
    fields: {
      command: need('string', 'The command.'),
      exitCode: need('number', 'Its exit code.'),
      framework: field('string', 'The test framework.'),
      failures: field('array', '`{ test, file?, name?, message? }`.'),
      passed: field('array', 'The tests that passed.'),
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
        since: 2,
      }),
      after: field('any', 'The whole file after the change; null if it was removed.', { storage: 'part', since: 2 }),
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
      source: field('string', 'The id of the session in its own system.', { ...noise, since: 2 }),
      file: field('string', 'The file that the texts are of; empty for the main one.', { ...noise, since: 2 }),
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

function scopeText(data: JsonObject, write: GistWriter): string {
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
