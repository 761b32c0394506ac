import { type EventSpec, field, need } from '../event-spec.ts';

const noise = { role: 'noise' } as const;

const namespace = need('string', 'Which graph: empty for the outermost, else the path of the subgraph.', noise);
const typed = need('string', "How the framework's serializer names the form of the value: `json`, `bytes` …");

/** What a graph framework keeps between two runs of a node, so that it can go on from there. */
export const graphTypes: Readonly<Record<string, EventSpec>> = {
  'channel.saved': {
    version: 1,
    about: 'A channel of a graph got a value. The `graph.saved` it belongs to follows it in the same append.',
    fields: {
      namespace,
      channel: need('string', 'The channel.'),
      type: typed,
      items: field('array', 'An array, as the JSON text of each of its items.', { storage: 'list' }),
      text: field('string', 'Any other JSON value, as its text.'),
      body: field('string', 'The same, where it is long.', { storage: 'body' }),
      bytes: field('string', 'What is not JSON, in base64.', { storage: 'part' }),
    },
    structural: false,
    // Values of one channel resemble each other, not those of its neighbours.
    place: (data) => `${String(data['namespace'])}\n${String(data['channel'])}`,
    example: { namespace: '', channel: 'messages', type: 'json', items: ['{"role":"user","content":"Hi"}'] },
  },
  'graph.saved': {
    version: 1,
    about: 'A graph saved its state: what LangGraph calls a checkpoint.',
    fields: {
      namespace,
      saved: need('string', "The framework's id of what was saved.", noise),
      parent: field('string', 'The id of what it goes on from.', noise),
      source: field('string', 'input, loop, update or fork.'),
      changed: need('array', 'The channels whose values stand before this event, in that order.'),
      values: need('object', '`{ from, version }` by channel: what was saved when the value was stored.', noise),
      state: need('object', 'The rest, as its serializer wrote it: `{ type, text | bytes }`.', noise),
      metadata: need('object', 'What the framework says about it, in the same form.', noise),
    },
    structural: false,
    example: {
      namespace: '',
      saved: '1ef…',
      source: 'loop',
      changed: ['messages'],
      values: { messages: { from: '1ef…', version: 2 } },
      state: { type: 'json', text: '{"v":4}' },
      metadata: { type: 'json', text: '{"source":"loop"}' },
    },
  },
  'graph.wrote': {
    version: 1,
    about: 'A task of a graph wrote to channels; the state that holds it is saved once all tasks are done.',
    fields: {
      namespace,
      saved: need('string', 'The id of the saved state it was written on.', noise),
      task: need('string', 'The id of the task.', noise),
      writes: need('array', '`{ index, channel, type, text | bytes }`, in order.', noise),
    },
    structural: false,
    example: {
      namespace: '',
      saved: '1ef…',
      task: '9a4…',
      writes: [{ index: 0, channel: 'messages', type: 'json', text: '[]' }],
    },
  },
};
