import type { EventDraft } from '../../../core/event/event.ts';
import {
  arrayAt,
  given,
  isArray,
  isObject,
  type JsonObject,
  type JsonValue,
  numberAt,
  objectAt,
  stringAt,
} from '../../../core/json.ts';
import type { UnitMeaning } from '../../../core/recording/foreign-format.ts';
import { said, Talk, toolCallPart } from '../pieces/talk.ts';

/** A message of the chat that was not taken back: where a rewind to it leads. */
interface StandingMessage {
  readonly id: string;
  /** The unit before it; undefined for one that the tool wrote anew in a list. */
  readonly before: string | undefined;
  /** The messages that it is; left out for one that is in units. */
  readonly messages?: readonly JsonObject[];
}

/** An answer that may be written again: the tool adds its tokens and tool calls once it knows them. */
interface OpenAnswer {
  readonly id: string;
  readonly model: string;
  hasEnded: boolean;
  hasSpoken: boolean;
  readonly calls: Set<string>;
  readonly ended: Set<string>;
}

/** Reads the records of one chat of Gemini CLI. */
export class GeminiReader {
  readonly #talk: Talk;
  readonly #isSubAgent: boolean;
  /** Whether an answer may be written again. */
  readonly #isLines: boolean;
  #standing: StandingMessage[] = [];
  #ids = new Set<string>();
  #answer: OpenAnswer | undefined;
  #last = '';
  #hasSpawned = false;

  /** `agent` is the sub-agent that the chat is of; undefined for the main one. */
  constructor(session: string | undefined, agent: string | undefined, isLines: boolean) {
    this.#talk = new Talk(agent ?? 'gemini-cli', session);
    this.#isSubAgent = agent !== undefined;
    this.#isLines = isLines;
  }

  /** Returns the meaning of a record; `unit` is the id that its unit has for the engine. */
  record(record: JsonObject, unit: string): UnitMeaning | undefined {
    const meaning = this.#meaning(record, unit);
    this.#last = unit;
    return meaning === undefined ? undefined : { ...meaning, id: unit };
  }

  end(): { readonly drafts: readonly EventDraft[]; readonly warnings: readonly string[] } {
    return { drafts: this.#talk.of(this.#settle()), warnings: this.#talk.unanswered };
  }

  #meaning(record: JsonObject, unit: string): UnitMeaning | undefined {
    const target = stringAt(record, '$rewindTo');
    if (target !== undefined) return this.#rewound(target);
    const set = objectAt(record, '$set');
    if (set !== undefined) return this.#changed(set);
    const type = stringAt(record, 'type');
    if (type === undefined) return Object.hasOwn(record, 'sessionId') ? { type: 'header', drafts: [] } : undefined;
    const id = stringAt(record, 'id') ?? unit;
    const time = stringAt(record, 'timestamp');
    if (type === 'gemini' && this.#answer?.id === id)
      return { type, isTalk: true, drafts: this.#talk.of(this.#more(this.#answer, record), { time }) };
    if (this.#ids.has(id)) return { type, drafts: [], warnings: [`its id ${JSON.stringify(id)} was used before`] };
    const settled = this.#talk.of(this.#settle());
    this.#standing.push({ id, before: this.#last });
    this.#ids.add(id);
    const drafts = this.#talk.of([...this.#spawned(), ...this.#drafts(type, record, id)], { time });
    const isPrompt = type === 'user' && !this.#isSubAgent;
    return { type, isTalk: true, settled, drafts, ...(isPrompt ? { begins: { kind: 'prompt', id } } : {}) };
  }

  #spawned(): EventDraft[] {
    if (!this.#isSubAgent || this.#hasSpawned) return [];
    this.#hasSpawned = true;
    return [{ type: 'agent.spawned', data: { role: 'sub-agent' } }];
  }

  /** Takes a message back with all after it; of an id that is not there, the tool takes back everything. */
  #rewound(target: string): UnitMeaning {
    const about = { type: '$rewindTo', drafts: [] };
    const index = Math.max(
      0,
      this.#standing.findLastIndex(({ id }) => id === target),
    );
    const first = this.#standing[index];
    this.#stand(this.#standing.slice(0, index));
    this.#answer = undefined;
    // The talk of a sub-agent comes after that of the main one, which no rewind of it may take back.
    if (first === undefined || this.#isSubAgent) return about;
    if (first.before !== undefined) return { ...about, rewindTo: first.before };
    return { ...about, drafts: this.#talk.of([this.#goneOn()]) };
  }

  /** Reads a change of the chat. A list of messages takes the place of all before it, such as after a compression. */
  #changed(set: JsonObject): UnitMeaning {
    const list = arrayAt(set, 'messages')?.filter(isObject);
    if (list === undefined || list.length === 0) return { type: '$set', drafts: [] };
    const settled = this.#talk.of(this.#settle());
    const answered = new Set(list.flatMap((record) => responsesIn(record).map(({ id }) => id)));
    this.#stand(
      list.map((record) => ({
        id: stringAt(record, 'id') ?? '',
        before: undefined,
        messages: messagesOf(record, answered),
      })),
    );
    return { type: '$set', isTalk: true, settled, drafts: this.#talk.of([this.#goneOn()]) };
  }

  #stand(standing: StandingMessage[]): void {
    this.#standing = standing;
    this.#ids = new Set(standing.map(({ id }) => id));
  }

  #goneOn(): EventDraft {
    const messages = this.#standing.flatMap((message) => message.messages ?? []);
    return { type: 'conversation.compacted', data: { messages } };
  }

  #drafts(type: string, record: JsonObject, id: string): EventDraft[] {
    switch (type) {
      case 'user': {
        const content = partsOf(record['content']);
        const prompt = typeof content === 'string' ? content : undefined;
        return [said('user', content), ...(this.#isSubAgent ? [] : this.#talk.begin({ prompt }))];
      }
      case 'gemini':
        return this.#answered(record, id);
      default:
        // Notes of the tool to the person: the model does not see them.
        return [];
    }
  }

  /** Returns the events of an answer. Its call stays open while the tool has not counted its tokens. */
  #answered(record: JsonObject, id: string): EventDraft[] {
    const model = stringAt(record, 'model') ?? 'unknown';
    const usage = usageOf(objectAt(record, 'tokens'));
    const calls = callsIn(record);
    const content = answerContent(record, calls);
    const hasEnded = usage !== undefined || !this.#isLines;
    const hasSpoken = content.length > 0;
    this.#answer = { id, model, hasEnded, hasSpoken, calls: new Set(), ended: new Set() };
    const [started, ended] = this.#talk.modelCall(id, model, given({ usage })) as [EventDraft, EventDraft];
    const tools = this.#tools(this.#answer, calls);
    if (!hasEnded) return [started, ...(hasSpoken ? [said('assistant', content)] : []), ...tools];
    const message = { role: 'assistant', content };
    return [started, { ...ended, data: { ...ended.data, message } }, ...tools];
  }

  /** Returns what a record adds to the answer that it repeats. */
  #more(answer: OpenAnswer, record: JsonObject): EventDraft[] {
    const usage = usageOf(objectAt(record, 'tokens'));
    const calls = callsIn(record).filter(({ id }) => !answer.calls.has(id));
    const content = answer.hasSpoken ? calls.map(askedPart) : answerContent(record, calls);
    answer.hasSpoken ||= content.length > 0;
    const drafts = [
      ...(content.length === 0 ? [] : [said('assistant', content)]),
      ...this.#tools(answer, callsIn(record)),
    ];
    return usage === undefined ? drafts : [...drafts, ...this.#settle(usage)];
  }

  /** Ends the call of the answer, if it is open. */
  #settle(usage?: JsonObject): EventDraft[] {
    const answer = this.#answer;
    if (usage === undefined) this.#answer = undefined;
    if (answer === undefined || answer.hasEnded) return [];
    answer.hasEnded = true;
    return this.#talk.modelCall(answer.id, answer.model, given({ usage })).slice(1);
  }

  #tools(answer: OpenAnswer, calls: readonly ToolRecord[]): EventDraft[] {
    return calls.flatMap(({ id, name, input, status, result }) => {
      const drafts = answer.calls.has(id) ? [] : [this.#talk.toolStarted(id, name, input)];
      answer.calls.add(id);
      const isFailed = status === 'error' || status === 'cancelled';
      if ((result === undefined && !isFailed) || answer.ended.has(id)) return drafts;
      answer.ended.add(id);
      return [...drafts, ...this.#talk.toolEnded(id, { output: result ?? null, isError: isFailed })];
    });
  }
}

/** A tool call of an answer. */
interface ToolRecord {
  readonly id: string;
  readonly name: string;
  readonly input: JsonValue;
  readonly status: string | undefined;
  readonly result: JsonValue | undefined;
}

function callsIn(record: JsonObject): ToolRecord[] {
  return (arrayAt(record, 'toolCalls') ?? []).filter(isObject).map((call) => {
    const [first] = arrayAt(call, 'result') ?? [];
    return {
      id: stringAt(call, 'id') ?? '',
      name: stringAt(call, 'name') ?? 'unknown',
      input: call['args'] ?? {},
      status: stringAt(call, 'status'),
      result: first === undefined ? undefined : outputOf(first),
    };
  });
}

function outputOf(part: JsonValue): JsonValue {
  const response = objectAt(part, 'functionResponse');
  return objectAt(response, 'response')?.['output'] ?? response?.['response'] ?? part;
}

const askedPart = ({ id, name, input }: ToolRecord): JsonObject => toolCallPart(id, name, input);

/** Returns what an answer says: its thoughts, its text, and the tools that it asks for. */
function answerContent(record: JsonObject, calls: readonly ToolRecord[]): string | JsonObject[] {
  const content = partsOf(record['content']);
  const thoughts = (arrayAt(record, 'thoughts') ?? []).map(
    (thought): JsonObject => ({
      type: 'reasoning',
      text: [stringAt(thought, 'subject'), stringAt(thought, 'description')]
        .filter((text) => text !== undefined)
        .join('\n'),
    }),
  );
  if (thoughts.length + calls.length === 0 && typeof content === 'string') return content;
  const spoken = typeof content === 'string' ? (content === '' ? [] : [{ type: 'text', text: content }]) : content;
  return [...thoughts, ...spoken, ...calls.map(askedPart)];
}

/** Returns the results of tools in the parts of a record. */
function responsesIn(record: JsonObject): { readonly id: string; readonly name: string; readonly output: JsonValue }[] {
  return (arrayAt(record, 'content') ?? []).flatMap((part) => {
    const response = objectAt(part, 'functionResponse');
    if (response === undefined) return [];
    const name = stringAt(response, 'name') ?? 'unknown';
    return [{ id: stringAt(response, 'id') ?? name, name, output: outputOf(part) }];
  });
}

/** Returns the messages of a record in a list; `answered` are the calls whose results have their own records. */
function messagesOf(record: JsonObject, answered: ReadonlySet<string>): JsonObject[] {
  const type = stringAt(record, 'type');
  if (type !== 'user' && type !== 'gemini') return [];
  const results = responsesIn(record);
  const content = partsOf(
    isArray(record['content'])
      ? record['content'].filter((part) => objectAt(part, 'functionResponse') === undefined)
      : record['content'],
  );
  if (type === 'user')
    return [...results.map(resultMessage), ...(content.length === 0 ? [] : [{ role: 'user', content }])];
  const asked = new Set((isArray(content) ? content : []).map((part) => part['toolCallId']));
  const calls = callsIn(record);
  const spoken = answerContent(
    { ...record, content },
    calls.filter(({ id }) => !asked.has(id)),
  );
  const own = calls.flatMap(({ id, name, result }) =>
    result === undefined || answered.has(id) ? [] : [resultMessage({ id, name, output: result })],
  );
  return [...(spoken.length === 0 ? [] : [{ role: 'assistant', content: spoken }]), ...own];
}

function resultMessage({ id, name, output }: { id: string; name: string; output: JsonValue }): JsonObject {
  return { role: 'tool', content: [{ type: 'tool-result', toolCallId: id, toolName: name, output }] };
}

function partsOf(content: JsonValue | undefined): string | JsonObject[] {
  if (typeof content === 'string') return content;
  const parts = (isArray(content) ? content : content === undefined ? [] : [content]).flatMap((part): JsonObject[] => {
    if (typeof part === 'string') return [{ type: 'text', text: part }];
    const text = stringAt(part, 'text');
    if (text !== undefined) return [{ type: 'text', text }];
    const call = objectAt(part, 'functionCall');
    const name = stringAt(call, 'name') ?? 'unknown';
    if (call !== undefined) return [toolCallPart(stringAt(call, 'id') ?? name, name, call['args'] ?? {})];
    return isObject(part) ? [{ ...part, type: 'part' }] : [];
  });
  const [only] = parts;
  return parts.length === 1 && only?.['type'] === 'text' ? String(only['text']) : parts;
}

function usageOf(tokens: JsonObject | undefined): JsonObject | undefined {
  if (tokens === undefined) return undefined;
  const [output, thoughts] = [numberAt(tokens, 'output'), numberAt(tokens, 'thoughts')];
  return given({
    inputTokens: numberAt(tokens, 'input'),
    outputTokens: output === undefined ? undefined : output + (thoughts ?? 0),
    cachedInputTokens: numberAt(tokens, 'cached'),
    reasoningTokens: thoughts,
  });
}
