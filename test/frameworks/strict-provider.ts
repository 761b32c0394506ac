/**
 * A second model server, written for one purpose and without the converters of this project: it takes a request only if
 * a provider would. Fields that the protocol does not have are refused, and so are messages in an order that it does not
 * allow. Its answers are given beforehand.
 */
import { createServer, type IncomingMessage } from 'node:http';

/** The next answer of the model. */
export type Says =
  | { readonly text: string }
  | { readonly calls: readonly { readonly name: string; readonly input: object }[] };

type Body = Readonly<Record<string, unknown>>;

/** A strict provider. */
export interface StrictProvider {
  readonly url: string;
  /** The bodies that were taken, and why others were refused. */
  readonly taken: readonly Body[];
  readonly refused: readonly string[];
  /** Says these next, one answer after the other. */
  will(...says: readonly Says[]): void;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Opens a server that refuses what the providers refuse. */
export async function openStrictProvider(): Promise<StrictProvider> {
  const taken: Body[] = [];
  const refused: string[] = [];
  const says: Says[] = [];
  let count = 0;
  const server = createServer((request, response) => {
    void (async () => {
      const path = new URL(request.url ?? '/', 'http://localhost').pathname;
      const body = JSON.parse(await textOf(request)) as Body;
      const send = (status: number, value: unknown): void => {
        response.writeHead(status, { 'content-type': 'application/json' });
        response.end(JSON.stringify(value));
      };
      try {
        const protocol = protocols.find(({ at }) => at.test(path)) ?? refuse(`there is nothing at ${path}`);
        protocol.check(body);
        taken.push(body);
        send(200, protocol.answer(says.shift() ?? refuse('nothing is left to say'), ++count));
      } catch (error) {
        refused.push((error as Error).message);
        send(400, { error: { message: (error as Error).message, type: 'invalid_request_error' }, type: 'error' });
      }
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { readonly port: number };
  return {
    url: `http://127.0.0.1:${port}`,
    taken,
    refused,
    will: (...next) => void says.push(...next),
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request as AsyncIterable<Buffer>) pieces.push(piece);
  return Buffer.concat(pieces).toString('utf8');
}

function refuse(why: string): never {
  throw new Error(why);
}

/** Refuses keys that are not among those, and asks for those that must be there. */
function checkKeys(value: unknown, where: string, required: readonly string[], optional: readonly string[] = []): Body {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return refuse(`${where} is not an object`);
  for (const key of Object.keys(value))
    if (!required.includes(key) && !optional.includes(key)) refuse(`${where} has an unknown field "${key}"`);
  for (const key of required) if ((value as Body)[key] === undefined) refuse(`${where} lacks "${key}"`);
  return value as Body;
}

const listOf = (value: unknown, where: string): readonly Body[] =>
  Array.isArray(value) ? (value as readonly Body[]) : refuse(`${where} is not a list`);

const textIn = (value: unknown, where: string): string =>
  typeof value === 'string' ? value : refuse(`${where} is not a text`);

function filled(value: unknown, where: string): string {
  return textIn(value, where) === '' ? refuse(`${where} is empty`) : (value as string);
}

/** Every call is answered once, right after it, before anything else is said. */
class Calls {
  #open = new Map<string, string>();
  ask(id: unknown, name: unknown): void {
    const known = filled(id, 'the id of a call');
    if (this.#open.has(known)) refuse(`the call ${known} is asked for twice`);
    this.#open.set(known, filled(name, 'the name of a call'));
  }
  answer(id: unknown, name?: unknown): void {
    const known = this.#open.get(String(id));
    if (known === undefined) refuse(`the answer to ${String(id)} answers no call`);
    if (name !== undefined && name !== known) refuse(`the answer to ${String(id)} is of ${String(name)}`);
    this.#open.delete(String(id));
  }
  settled(where: string): void {
    if (this.#open.size > 0) refuse(`${where} comes before the answers to ${[...this.#open.keys()].join(', ')}`);
  }
}

interface Strict {
  readonly at: RegExp;
  check(body: Body): void;
  answer(says: Says, number: number): object;
}

const callsOf = (says: Says) => ('calls' in says ? says.calls : []);
const idOf = (number: number, index: number): string => `call_${number}_${index}`;

const chat: Strict = {
  at: /\/chat\/completions$/,
  check(body) {
    checkKeys(body, 'the request', ['model', 'messages'], ['tools', 'stream', 'temperature']);
    for (const tool of listOf(body['tools'] ?? [], 'tools')) {
      checkKeys(tool, 'a tool', ['type', 'function']);
      checkKeys(tool['function'], 'a function', ['name'], ['description', 'parameters', 'strict']);
    }
    const calls = new Calls();
    for (const [index, message] of listOf(body['messages'], 'messages').entries()) chatMessage(message, index, calls);
    calls.settled('the end');
  },
  answer(says, number) {
    const asked = callsOf(says).map(({ name, input }, index) => ({
      id: idOf(number, index),
      type: 'function',
      function: { name, arguments: JSON.stringify(input, null, 1) },
    }));
    const message = {
      role: 'assistant',
      content: 'text' in says ? says.text : null,
      refusal: null,
      annotations: [],
      ...(asked.length > 0 ? { tool_calls: asked } : {}),
    };
    const reason = asked.length > 0 ? 'tool_calls' : 'stop';
    return {
      id: `chatcmpl-${number}`,
      object: 'chat.completion',
      created: 1,
      model: 'small-1',
      choices: [{ index: 0, message, logprobs: null, finish_reason: reason }],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    };
  },
};

function chatMessage(message: Body, index: number, calls: Calls): void {
  const where = `message ${index}`;
  if (message['role'] === 'tool') {
    checkKeys(message, where, ['role', 'content', 'tool_call_id']);
    textIn(message['content'], `${where}.content`);
    return calls.answer(message['tool_call_id']);
  }
  calls.settled(where);
  if (message['role'] !== 'assistant') {
    if (!['system', 'developer', 'user'].includes(String(message['role']))) refuse(`${where} has an unknown role`);
    checkKeys(message, where, ['role', 'content'], ['name']);
    if (typeof message['content'] === 'string') return void filled(message['content'], `${where}.content`);
    for (const part of listOf(message['content'], `${where}.content`)) {
      if (part['type'] === 'text') checkKeys(part, `${where}.content`, ['type', 'text']);
      else if (part['type'] === 'image_url') checkKeys(part, `${where}.content`, ['type', 'image_url']);
      else refuse(`${where}.content has an unknown part "${String(part['type'])}"`);
    }
    return;
  }
  checkKeys(message, where, ['role'], ['content', 'tool_calls', 'refusal', 'annotations']);
  const asked = message['tool_calls'] === undefined ? [] : listOf(message['tool_calls'], `${where}.tool_calls`);
  if (message['tool_calls'] !== undefined && asked.length === 0) refuse(`${where}.tool_calls is empty`);
  if (asked.length === 0) filled(message['content'], `${where}.content`);
  for (const call of asked) {
    checkKeys(call, 'a call', ['id', 'type', 'function']);
    const { name, arguments: written } = checkKeys(call['function'], 'a call', ['name', 'arguments']);
    JSON.parse(textIn(written, 'arguments'));
    calls.ask(call['id'], name);
  }
}

const responses: Strict = {
  at: /\/responses$/,
  check(body) {
    checkKeys(body, 'the request', ['model', 'input'], ['instructions', 'tools', 'stream']);
    for (const tool of listOf(body['tools'] ?? [], 'tools'))
      checkKeys(tool, 'a tool', ['type', 'name', 'parameters'], ['description', 'strict']);
    const calls = new Calls();
    const items = listOf(body['input'], 'input');
    for (const [index, item] of items.entries()) {
      responseItem(item, index, calls);
      const next = items[index + 1];
      const isFollowed = next !== undefined && (next['type'] === 'function_call' || next['role'] === 'assistant');
      if (item['type'] === 'reasoning' && !isFollowed) refuse(`item ${index} is reasoning without what follows it`);
    }
    calls.settled('the end');
  },
  answer(says, number) {
    const asked = callsOf(says).map(({ name, input }, index) => ({
      type: 'function_call',
      id: `fc_${number}_${index}`,
      call_id: idOf(number, index),
      name,
      arguments: JSON.stringify(input, null, 1),
      status: 'completed',
    }));
    const content = 'text' in says ? [{ type: 'output_text', text: says.text, annotations: [], logprobs: [] }] : [];
    const message = { type: 'message', id: `msg_${number}`, status: 'completed', role: 'assistant', content };
    const thought = { type: 'reasoning', id: `rs_${number}`, summary: [], encrypted_content: `sealed-${number}` };
    return {
      id: `resp_${number}`,
      object: 'response',
      status: 'completed',
      error: null,
      incomplete_details: null,
      model: 'small-1',
      output: [thought, ...(content.length > 0 ? [message] : []), ...asked],
      usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
    };
  },
};

function responseItem(item: Body, index: number, calls: Calls): void {
  const where = `item ${index}`;
  switch (item['type']) {
    case 'function_call': {
      checkKeys(item, where, ['type', 'call_id', 'name', 'arguments'], ['id', 'status']);
      JSON.parse(textIn(item['arguments'], `${where}.arguments`));
      return calls.ask(item['call_id'], item['name']);
    }
    case 'function_call_output':
      checkKeys(item, where, ['type', 'call_id', 'output'], ['id', 'status']);
      textIn(item['output'], `${where}.output`);
      return calls.answer(item['call_id']);
    case 'reasoning':
      calls.settled(where);
      // The id finds the provider's own copy, and encrypted content stands for itself.
      return void checkKeys(
        item,
        where,
        ['type', 'summary', item['id'] === undefined ? 'encrypted_content' : 'id'],
        ['id', 'encrypted_content', 'content', 'status'],
      );
    case undefined:
    case 'message': {
      calls.settled(where);
      checkKeys(item, where, ['role', 'content'], ['type', 'id', 'status']);
      const isModels = item['role'] === 'assistant';
      if (typeof item['content'] === 'string') return void filled(item['content'], `${where}.content`);
      for (const piece of listOf(item['content'], `${where}.content`)) {
        checkKeys(piece, `${where}.content`, ['type', 'text'], ['annotations', 'logprobs']);
        if (piece['type'] !== (isModels ? 'output_text' : 'input_text')) refuse(`${where} has a wrong piece`);
      }
      return;
    }
    default:
      refuse(`${where} is of an unknown type "${String(item['type'])}"`);
  }
}

const anthropic: Strict = {
  at: /\/messages$/,
  check(body) {
    checkKeys(body, 'the request', ['model', 'max_tokens', 'messages'], ['system', 'tools', 'stream']);
    for (const tool of listOf(body['tools'] ?? [], 'tools'))
      checkKeys(tool, 'a tool', ['name', 'input_schema'], ['description', 'type']);
    const messages = listOf(body['messages'], 'messages');
    if (messages[0]?.['role'] !== 'user') refuse('the first message is not the user’s');
    const calls = new Calls();
    for (const [index, message] of messages.entries()) anthropicMessage(message, index, calls);
    calls.settled('the end');
  },
  answer(says, number) {
    const asked = callsOf(says).map(({ name, input }, index) => ({
      type: 'tool_use',
      id: idOf(number, index),
      name,
      input,
    }));
    return {
      id: `msg_${number}`,
      type: 'message',
      role: 'assistant',
      model: 'small-1',
      content: [
        { type: 'thinking', thinking: 'Hm', signature: `sealed-${number}` },
        ...('text' in says ? [{ type: 'text', text: says.text }] : []),
        ...asked,
      ],
      stop_reason: asked.length > 0 ? 'tool_use' : 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: 1, output_tokens: 1 },
    };
  },
};

function anthropicMessage(message: Body, index: number, calls: Calls): void {
  const where = `message ${index}`;
  checkKeys(message, where, ['role', 'content']);
  if (!['user', 'assistant'].includes(String(message['role']))) refuse(`${where} has an unknown role`);
  if (typeof message['content'] === 'string') {
    calls.settled(where);
    return void filled(message['content'], `${where}.content`);
  }
  const blocks = listOf(message['content'], `${where}.content`);
  if (blocks.length === 0) refuse(`${where} is empty`);
  const isModels = message['role'] === 'assistant';
  if (isModels) calls.settled(where);
  for (const block of blocks) {
    const own = `${where}.${String(block['type'])}`;
    if (!isModels && block['type'] === 'tool_result') {
      checkKeys(block, own, ['type', 'tool_use_id'], ['content', 'is_error']);
      if (typeof block['content'] !== 'string') listOf(block['content'], own);
      calls.answer(block['tool_use_id']);
    } else if (isModels && block['type'] === 'tool_use') {
      checkKeys(block, own, ['type', 'id', 'name', 'input']);
      checkKeys(block['input'], `${own}.input`, [], Object.keys(block['input'] as object));
      calls.ask(block['id'], block['name']);
    } else if (isModels && block['type'] === 'thinking') {
      checkKeys(block, own, ['type', 'thinking', 'signature']);
      if (!/^sealed-\d+$/.test(String(block['signature']))) refuse(`${own} is not signed by this model`);
    } else {
      checkKeys(block, own, ['type', 'text'], ['citations']);
      if (block['type'] !== 'text') refuse(`${own} is of an unknown type`);
      filled(block['text'], own);
      if (!isModels) calls.settled(where);
    }
  }
  // All answers stand in the message that follows the calls.
  if (!isModels) calls.settled(`the end of ${where}`);
}

const gemini: Strict = {
  at: /:generateContent$/,
  check(body) {
    checkKeys(body, 'the request', ['contents'], ['systemInstruction', 'tools', 'generationConfig']);
    for (const tool of listOf(body['tools'] ?? [], 'tools'))
      for (const each of listOf(
        checkKeys(tool, 'a tool', ['functionDeclarations'])['functionDeclarations'],
        'functions',
      ))
        checkKeys(each, 'a function', ['name'], ['description', 'parameters', 'parametersJsonSchema']);
    const contents = listOf(body['contents'], 'contents');
    if (contents[0]?.['role'] !== 'user') refuse('the first content is not the user’s');
    let open: string[] = [];
    for (const [index, content] of contents.entries()) open = geminiContent(content, index, open);
    if (open.length > 0) refuse(`the end comes before the responses of ${open.join(', ')}`);
  },
  answer(says, number) {
    const asked = callsOf(says).map(({ name, input }, index) => ({
      functionCall: { name, args: input },
      ...(index === 0 ? { thoughtSignature: `sealed-${number}` } : {}),
    }));
    const parts = 'text' in says ? [{ text: says.text }] : asked;
    return {
      candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
      modelVersion: 'small-1',
    };
  },
};

/** The names of the functions that are called and not answered yet. */
function geminiContent(content: Body, index: number, open: readonly string[]): string[] {
  const where = `content ${index}`;
  checkKeys(content, where, ['role', 'parts']);
  const parts = listOf(content['parts'], `${where}.parts`);
  if (parts.length === 0) refuse(`${where} is empty`);
  const left = [...open];
  const asked: string[] = [];
  for (const part of parts) {
    checkKeys(part, `${where}.parts`, [], ['text', 'thought', 'thoughtSignature', 'functionCall', 'functionResponse']);
    if (part['functionResponse'] !== undefined) {
      if (content['role'] !== 'user') refuse(`${where} answers as the model`);
      const { name, response } = checkKeys(part['functionResponse'], `${where}.parts`, ['name', 'response'], ['id']);
      checkKeys(response, `${where}.response`, [], Object.keys(response as object));
      const at = left.indexOf(String(name));
      if (at < 0) refuse(`${where} answers ${String(name)}, which was not called`);
      left.splice(at, 1);
    } else if (part['functionCall'] !== undefined) {
      if (content['role'] !== 'model') refuse(`${where} calls as the user`);
      const { name, args } = checkKeys(part['functionCall'], `${where}.parts`, ['name', 'args'], ['id']);
      checkKeys(args, `${where}.args`, [], Object.keys(args as object));
      asked.push(String(name));
    } else filled(part['text'], `${where}.text`);
  }
  if (left.length > 0) refuse(`${where} leaves ${left.join(', ')} without a response`);
  return asked;
}

const protocols: readonly Strict[] = [chat, responses, anthropic, gemini];
