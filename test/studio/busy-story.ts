/** A long history for the studio: agents at work beside each other, with errors, state, pauses and strange content. */
import type { EventDraft } from '../../src/core/event/event.ts';

const agents = ['support', 'researcher', 'writer', 'reviewer'] as const;
const tools = ['search', 'lookup', 'read_file', 'refund', 'send_mail'] as const;
const began = Date.parse('2026-11-16T09:00:00.000Z');

/** Makes numbers from 0 to 1 that are the same every time. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Returns about as many events as asked for: runs of several agents, one after the other and beside each other. */
export function* busyStory(count: number, lanes: number = agents.length): Generator<EventDraft, void, undefined> {
  const random = numbers(7);
  let [time, made, turn] = [began, 0, 0];
  const at = (ms: number): string => {
    time += ms;
    return new Date(time).toISOString();
  };
  while (made < count) {
    turn++;
    // Somebody goes to lunch now and then.
    if (turn % 9 === 0) time += 5_400_000 * random();
    const agent =
      turn % 5 === 0 || lanes > agents.length ? `agent-${turn % lanes}` : (agents[turn % agents.length] ?? 'support');
    for (const event of turnOf({ agent, turn, at, random })) {
      made++;
      yield event;
    }
  }
}

interface Turn {
  readonly agent: string;
  readonly turn: number;
  readonly at: (ms: number) => string;
  readonly random: () => number;
}

function* turnOf({ agent, turn, at, random }: Turn): Generator<EventDraft, void, undefined> {
  const run = `run-${turn}`;
  const who = { agent, run, turn };
  const start = `start-${turn}`;
  yield { type: 'run.started', id: start, time: at(400), ...who, data: { title: `Turn ${turn} of a long day` } };
  yield {
    type: 'message.added',
    time: at(5),
    cause: start,
    ...who,
    data: { message: { role: 'user', content: `Order ${turn}: please find out what was paid, and write it down.` } },
  };
  const messages = [{ role: 'user', content: `Order ${turn}: please find out what was paid, and write it down.` }];
  const model = `model-${turn}`;
  const system = 'You are careful. Look things up before you act, and say what you did.';
  yield {
    type: 'call.started',
    id: model,
    time: at(20),
    cause: start,
    ...who,
    data: { call: model, kind: 'model', name: 'large-1', effect: 'pure', request: { messages, system } },
  };
  const chosen = tools.filter(() => random() < 0.4);
  const content = chosen.map((toolName, index) => ({
    type: 'tool-call',
    toolCallId: `${turn}-${index}`,
    toolName,
    input: { order: turn },
  }));
  const usage = {
    inputTokens: 900 + Math.floor(random() * 4_000),
    outputTokens: 40 + Math.floor(random() * 300),
    cachedInputTokens: 600,
  };
  yield {
    type: 'call.ended',
    time: at(800 + random() * 4_000),
    cause: model,
    ...who,
    data: {
      call: model,
      kind: 'model',
      name: 'large-1',
      outcome: 'ok',
      latencyMs: 2_400,
      usage,
      cost: usage.inputTokens * 2e-6,
      message: { role: 'assistant', content: content.length === 0 ? 'Nothing to do.' : content },
    },
  };
  for (const [index, name] of chosen.entries())
    yield {
      type: 'call.started',
      id: `tool-${turn}-${index}`,
      time: at(3),
      cause: model,
      ...who,
      data: {
        call: `${turn}-${index}`,
        kind: 'tool',
        name,
        effect: name === 'refund' ? 'irreversible' : 'pure',
        input: { order: turn },
      },
    };
  for (const [index, name] of chosen.entries()) {
    const failed = random() < 0.08;
    const end = failed
      ? { outcome: 'error', error: { name: 'Timeout', message: `${name} did not answer` } }
      : { outcome: 'ok', output: { order: turn, paid: turn * 5 } };
    yield {
      type: 'call.ended',
      time: at(60 + random() * 900),
      cause: `tool-${turn}-${index}`,
      ...who,
      data: { call: `${turn}-${index}`, kind: 'tool', name, latencyMs: 300, ...end },
    };
  }
  if (turn % 3 === 0)
    yield {
      type: 'state.committed',
      time: at(2),
      cause: start,
      ...who,
      data: {
        operations: [
          { agent, key: 'orders', op: 'write', value: { last: turn, open: turn % 7 }, version: Math.ceil(turn / 3) },
        ],
      },
    };
  yield {
    type: 'run.ended',
    time: at(10),
    cause: start,
    ...who,
    data: { outcome: random() < 0.06 ? 'error' : 'ok', result: 'Done.' },
  };
}
