import { arrayAt, isObject, type JsonObject, type JsonValue } from '../../json.ts';
import { type EventSpec, eventType, field, need } from '../event-spec.ts';
import type { GistWriter } from '../gist-writer.ts';
import { noise } from './shared-fields.ts';

const namespace = need('string', 'The path of the subgraph; empty for the outermost graph.', noise);

const namespaceText = (data: JsonObject, write: GistWriter): string =>
  write.text(data['namespace'], (path) => `[${path}]`);

/** The state that a graph framework saves between two nodes, so that it can continue from there. */
export const graphTypes: Readonly<Record<string, EventSpec>> = {
  'channel.saved': eventType(
    'A channel of a graph got a value. The `graph.saved` it belongs to follows it in the same append.',
    {
      fields: {
        namespace,
        channel: need('string', 'The channel.'),
        type: need('string', "The name that the framework's serializer gives the form of the value: `json`, `bytes` …"),
        items: field('array', 'An array, as the JSON text of each of its items.', { storage: 'list' }),
        text: field('string', 'Any other JSON value, as its text.'),
        body: field('string', 'The same, if it is long.', { storage: 'body' }),
        bytes: field('string', 'A value that is not JSON, in base64.', { storage: 'part' }),
      },
      // Values of one channel resemble each other, not those of its neighbors.
      place: (data) => `${String(data['namespace'])}\n${String(data['channel'])}`,
      gist: (data, write) => [namespaceText(data, write), `${String(data['channel'])} = ${channelText(data, write)}`],
      example: { namespace: '', channel: 'messages', type: 'json', items: ['{"role":"user","content":"Hi"}'] },
    },
  ),
  'graph.saved': eventType('A graph saved its state, which LangGraph calls a checkpoint.', {
    fields: {
      namespace,
      saved: need('string', "The framework's id of the saved state.", noise),
      parent: field('string', 'The id of the saved state it continues.', noise),
      source: field('string', 'input, loop, update or fork.'),
      changed: need('array', 'The channels whose values come before this event, in that order.'),
      values: need('object', '`{ from, version }` by channel: the saved state that the value was stored with.', noise),
      state: need('object', 'The rest, as its serializer wrote it: `{ type, text | bytes }`.', noise),
      metadata: need('object', "The framework's metadata, in the same form.", noise),
    },
    gist: (data, write) => [
      namespaceText(data, write),
      write.text(data['source']),
      write.text(data['saved']),
      write.text(write.list(data['changed']), (channels) => `changed ${channels}`),
    ],
    example: {
      namespace: '',
      saved: '1ef…',
      source: 'loop',
      changed: ['messages'],
      values: { messages: { from: '1ef…', version: 2 } },
      state: { type: 'json', text: '{"v":4}' },
      metadata: { type: 'json', text: '{"source":"loop"}' },
    },
  }),
  'graph.wrote': eventType(
    'A task of a graph wrote to channels; the graph saves the state that contains it once all tasks are done.',
    {
      fields: {
        namespace,
        saved: need('string', 'The id of the saved state it was written on.', noise),
        task: need('string', 'The id of the task.', noise),
        writes: need('array', '`{ index, channel, type, text | bytes }`, in order.', noise),
      },
      gist: (data, write) => [
        namespaceText(data, write),
        write.list(arrayAt(data, 'writes')?.map((one) => writeText(one, write))),
        write.text(data['saved'], (on) => `on ${on}`),
      ],
      example: {
        namespace: '',
        saved: '1ef…',
        task: '9a4…',
        writes: [{ index: 0, channel: 'messages', type: 'json', text: '[]' }],
      },
    },
  ),
};

function channelText(data: JsonObject, write: GistWriter): string {
  const items = arrayAt(data, 'items');
  if (items === undefined) return write.value(data['text'] ?? data['body'] ?? data['bytes']);
  const last = items.at(-1);
  return `${write.count(items, 'item')}${last === undefined ? '' : `, last ${write.value(contentOf(last))}`}`;
}

/** Returns the content of a message as LangChain stores it; the item itself if it is something else. */
function contentOf(item: JsonValue): JsonValue {
  if (typeof item !== 'string') return item;
  const [, content] = /"kwargs":\{(?:"id":"[^"]*",)?"content":("(?:[^"\\]|\\.)*")/.exec(item) ?? [];
  return content === undefined ? item : String(JSON.parse(content));
}

function writeText(one: JsonValue, write: GistWriter): string {
  return isObject(one) ? `${String(one['channel'])} = ${write.value(one['text'] ?? one['bytes'])}` : '';
}
