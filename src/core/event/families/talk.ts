import { arrayAt, type JsonObject, type JsonValue, objectAt, valueAt } from '../../json.ts';
import { type EventSpec, eventType, field, need } from '../event-spec.ts';
import type { GistWriter } from '../gist-writer.ts';
import { plainKey } from '../keys.ts';
import { error, id, noise, outcome } from './shared-fields.ts';

const call = need('string', 'The id of the call.', id);
const kind = need('string', 'model, tool, http, mcp, process or person.');
const name = need('string', 'The name of the model or tool, or the address.');

const callKeys = (data: JsonObject): readonly string[] => [plainKey('call', String(data['call']))];

/** A call of a different model is the same call, changed; a call of a different tool is a different call. */
const callSlot = (data: JsonObject): readonly (JsonValue | undefined)[] =>
  data['kind'] === 'model' ? ['model'] : [data['kind'], data['name']];

/** Messages, settings, and calls to the outside world. */
export const talkTypes: Readonly<Record<string, EventSpec>> = {
  'message.added': eventType('A message joined the conversation.', {
    fields: {
      message: need('object', 'The message: `{ role, content }`, in the neutral form of `ModelMessage`.', {
        storage: 'part',
      }),
    },
    slot: (data) => [valueAt(data, ['message', 'role'])],
    gist: ({ message }, write) => [write.message(message)],
    example: { message: { role: 'user', content: 'Where is my refund?' } },
  }),
  'settings.changed': eventType('The settings of every later model call were changed.', {
    fields: {
      model: field('string', 'The model.'),
      system: field('string', 'The system prompt.'),
      tools: field('array', 'The tool definitions.', { storage: 'list' }),
      settings: field('object', 'Temperature, limits and the like.'),
    },
    gist: ({ model, tools, settings, system }, write) => [
      write.text(model),
      write.count(tools, 'tool'),
      write.value(settings),
      write.text(system, (text) => `system: ${text}`),
    ],
    example: { model: 'large-1', system: 'Be brief.' },
  }),
  'conversation.compacted': eventType('A conversation went on from a shorter one.', {
    fields: {
      messages: field('array', 'The messages it continues from, in place of all before; none if left out.', {
        storage: 'list',
      }),
      kept: field('number', 'How many of the last messages before it follow them; none if left out.'),
      summary: field('string', 'The summary, if it is not one of the messages.', noise),
      trigger: field('string', 'The cause: auto or manual.', noise),
      tokensBefore: field('number', 'The tokens of the conversation before.', noise),
    },
    gist: ({ messages, kept, trigger, summary }, write) => [
      write.count(messages, 'message'),
      write.number('kept', kept),
      write.text(trigger),
      write.text(summary),
    ],
    example: { messages: [{ role: 'user', content: 'So far: the parser is fixed.' }], kept: 2 },
  }),
  'call.started': eventType('A call to the outside world began.', {
    fields: {
      call,
      kind,
      name,
      effect: field('string', 'pure, idempotent, irreversible or unknown.', noise),
      annotations: field('object', 'The annotations of an MCP tool, from its server.', noise),
      input: field('any', 'The arguments; of a question to a person, what the person is shown.'),
      about: field('string', 'The tool call that a person is asked about.', id),
      node: field('string', 'The node of the graph that made the call.', noise),
      saved: field('object', 'Where a graph saved what it needs to continue: `{ thread, saved }`.', {
        ...noise,
      }),
      'request.system': field('string', 'The system prompt a model was sent.', { storage: 'part' }),
      'request.messages': field('array', 'Every message a model was sent, in order.', { storage: 'list' }),
      'request.tools': field('array', 'The tool definitions it was sent.', { storage: 'list' }),
      'request.settings': field('object', 'Temperature, limits and the like.'),
      'request.body': field('string', 'The raw body as sent.', { role: 'noise', storage: 'body' }),
    },
    keys: callKeys,
    slot: callSlot,
    gist: (data, write) => [
      callName(data),
      effectText(data, write),
      requestText(data, write) || write.value(data['input']),
    ],
    example: { call: 'c7', kind: 'tool', name: 'refund', effect: 'irreversible', input: { order: 7 } },
  }),
  'call.ended': eventType('A call to the outside world ended.', {
    fields: {
      call,
      kind,
      name,
      outcome,
      output: field('any', 'The answer.'),
      message: field('object', 'The message of a model.', { storage: 'part' }),
      'response.body': field('string', 'The raw body as received.', { role: 'noise', storage: 'body' }),
      finishReason: field('string', 'Why a model stopped.'),
      error,
      usage: field('object', '`{ inputTokens, outputTokens, … }`.', noise),
      cost: field('number', 'In US dollars; left out if the price is unknown.', noise),
      latencyMs: field('number', 'How long it took.', noise),
      firstTokenMs: field('number', 'How long until the first token.', noise),
      attempts: field('number', 'How many tries it took.', noise),
      failedAttempts: field('array', '`{ status?, error?, latencyMs }` of the tries before the last.', noise),
      provider: field('object', 'Ids and metadata of the provider.', noise),
      reused: field('boolean', 'Whether the answer came from the record.', noise),
      simulated: field('boolean', 'Whether a simulation gave the answer, and the call was not made.'),
    },
    keys: callKeys,
    slot: callSlot,
    gist: (data, write) => [
      callName(data),
      write.outcome(data),
      data['reused'] === true ? 'reused' : '',
      data['simulated'] === true ? 'simulated' : '',
      ...write.spending(data),
      write.message(data['message']) || write.value(data['output']),
    ],
    completes: 'call.started',
    example: { call: 'c7', kind: 'tool', name: 'refund', outcome: 'ok', output: { refunded: true }, latencyMs: 182 },
  }),
};

function callName({ kind: held, name: called }: JsonObject): string {
  return held === 'tool' ? String(called) : `${String(held)} ${String(called)}`;
}

/** Every model call is pure, so its effect needs no words. */
function effectText({ kind: held, effect }: JsonObject, write: GistWriter): string {
  return held === 'model' && effect === 'pure' ? '' : write.text(effect, (text) => `(${text})`);
}

function requestText(data: JsonObject, write: GistWriter): string {
  const messages = arrayAt(objectAt(data, 'request'), 'messages');
  if (messages === undefined) return '';
  const last = messages.at(-1);
  return `${write.count(messages, 'message')}${last === undefined ? '' : `, last ${write.message(last)}`}`;
}
