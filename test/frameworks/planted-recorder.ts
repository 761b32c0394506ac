/** Every place in which a recorder can put text, each with a plant of its own. */
import type { JsonObject, Message, Recorder, Session } from '../../src/index.ts';
import { type Plant, type Planted, plantIn } from './planted-secrets.ts';

/** How a place is filled. */
type Fill = (recorder: Recorder, plant: Plant) => unknown;

const json = (plant: Plant): JsonObject => plant.value;
const user = (content: Message['content']): Message => ({ role: 'user', content });
const failing = (thrown: unknown) => () => Promise.reject(thrown as Error);
const quietly = (work: Promise<unknown>): Promise<unknown> => work.catch(() => undefined);

const model = (request: JsonObject, end: JsonObject = {}): Fill => {
  const messages = [user('Hi')];
  return (recorder) =>
    recorder.call(
      { kind: 'model', name: 'small-1', request: { messages, ...request } as never },
      () => null,
      () => end,
    );
};

/** Places that take text alone. */
const texts: Readonly<Record<string, Fill>> = {
  'the title of a run': (recorder, { text }) => recorder.run({ title: text }, () => undefined),
  'the title of a turn': (recorder, { text }) => recorder.turn({ title: text }, () => undefined),
  'the prompt of a task': (recorder, { text }) => recorder.task({ task: 't1', prompt: text, title: text }, () => 1),
  'the text of a message': (recorder, { text }) => recorder.message(user(text)),
  'the parts of a message': (recorder, { text }) =>
    recorder.message({
      role: 'assistant',
      content: [
        { type: 'text', text },
        { type: 'reasoning', text },
      ],
    }),
  'a long text': (recorder, { text }) => recorder.message(user(`${'word '.repeat(200)}\n${text}`)),
  'the system prompt': (recorder, plant) => model({ system: plant.text })(recorder, plant),
  'the answer of a model': (recorder, plant) =>
    model({}, { message: { role: 'assistant', content: plant.text } })(recorder, plant),
  'the name of a call': (recorder, { text }) => recorder.call({ kind: 'http', name: text }, () => 1),
  'the error of a call': (recorder, { text }) =>
    quietly(recorder.call({ kind: 'tool', name: 'x' }, failing(new Error(text)))),
  'what is thrown instead of an error': (recorder, { text }) =>
    quietly(recorder.call({ kind: 'tool', name: 'x' }, failing(text))),
  'the error of a run': (recorder, { text }) => quietly(recorder.run({}, failing(new Error(text)))),
  'a note': (recorder, { text }) => recorder.event({ type: 'note.added', data: { text } }),
};

/** Places that take any JSON. */
const values: Readonly<Record<string, Fill>> = {
  'the program of a run': (recorder, plant) => recorder.run({ program: json(plant) }, () => undefined),
  'the result of a run': (recorder, plant) => recorder.run({}, () => plant.value),
  'the result of a task': (recorder, plant) => recorder.task({ task: 't2' }, () => plant.value),
  'a tool call in a message': (recorder, { value }) =>
    recorder.message({
      role: 'assistant',
      content: [{ type: 'tool-call', toolCallId: 'c1', toolName: 'x', input: value }],
    }),
  'a tool result in a message': (recorder, { value }) =>
    recorder.message({
      role: 'tool',
      content: [{ type: 'tool-result', toolCallId: 'c1', toolName: 'x', output: value }],
    }),
  'a tool result that is text': (recorder, { value }) =>
    recorder.message({
      role: 'tool',
      content: [{ type: 'tool-result', toolCallId: 'c1', toolName: 'x', output: JSON.stringify(value) }],
    }),
  "a provider's own fields": (recorder, { value }) =>
    recorder.message({ role: 'assistant', content: 'Hi', providerOptions: { own: value } } as Message),
  'the arguments that a provider keeps beside the call': (recorder, { value }) =>
    recorder.message({
      role: 'assistant',
      content: 'Hi',
      providerOptions: { own: { function: { arguments: JSON.stringify({ input: value }) } } },
    } as Message),
  'the messages of a request': (recorder, plant) =>
    model({ messages: [{ role: 'user', content: JSON.stringify(plant.value) }] })(recorder, plant),
  'the tools of a request': (recorder, plant) =>
    model({ tools: [{ name: 'x', description: 'x', extra: plant.value }] })(recorder, plant),
  'the settings of a request': (recorder, plant) => model({ settings: plant.value })(recorder, plant),
  'the metadata of a provider': (recorder, plant) => model({}, { provider: plant.value })(recorder, plant),
  'the input of a call': (recorder, { value }) => recorder.call({ kind: 'tool', name: 'x', input: value }, () => 1),
  'the output of a call': (recorder, { value }) => recorder.call({ kind: 'tool', name: 'x' }, () => value),
  'the output of a call as text': (recorder, { value }) =>
    recorder.call({ kind: 'tool', name: 'x' }, () => `Done:\n${JSON.stringify(value, null, 2)}`),
  'the annotations of a tool': (recorder, { value }) =>
    recorder.call({ kind: 'mcp', name: 'x', annotations: value }, () => 1),
  'an event of any type': (recorder, { value }) => recorder.event({ type: 'thing.happened', data: value }),
  'an event of a known type': (recorder, { value }) =>
    recorder.event({ type: 'evidence.added', data: { evidence: value } as JsonObject }),
};

/** Fills every place of a recorder, each in a session of its own, so that no place helps another. */
export async function plantByRecorder(open: (id: string) => Promise<Session>): Promise<Planted[]> {
  const planted: Planted[] = [];
  const fills = [
    ...Object.entries(texts).map((entry) => ['text', ...entry] as const),
    ...Object.entries(values).map((entry) => ['value', ...entry] as const),
  ];
  for (const [kind, place, fill] of fills) {
    const plant = plantIn(place);
    const recorder = await (await open(`recorder-${planted.length}`)).record({ facts: false });
    await fill(recorder, plant);
    const { failed, errors } = await recorder.close();
    if (failed > 0) throw new Error(`${place} was not recorded: ${errors[0]?.message}`);
    planted.push({ plant, kind });
  }
  return planted;
}
