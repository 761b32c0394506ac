import type { Event } from '../core/event/event.ts';
import { isObject, type JsonObject, type JsonValue } from '../core/json.ts';
import { isMessage, textOf, toolCallsIn, toolResultsIn } from '../core/message/message.ts';
import { utf8Length } from '../core/utf8.ts';
import { bytesText, costText, countText, durationText, plural } from './amount.ts';
import { plain } from './text.ts';

/** What an event says, on one line. */
export function detailOf(event: Event): string {
  if (event.erased === true) return 'payload erased';
  const parts = Object.hasOwn(details, event.type) ? details[event.type]?.(event.data) : undefined;
  const said = (parts ?? [otherText(event.data)]).filter((part) => part !== '');
  return plain(said.join('  ').slice(0, detailMax));
}

// No terminal is wider; what is longer need not be looked at for escape codes.
const detailMax = 4_000;

type Detail = (data: JsonObject) => string[];

const marker =
  (what: (data: JsonObject) => string): Detail =>
  (data) => [what(data), quote(data['reason'])];

/** That a model does nothing to the world needs no words. */
const effectText = ({ kind, effect }: JsonObject): string =>
  kind === 'model' && effect === 'pure' ? '' : text(effect, (held) => `(${held})`);

/** What a person wants to see of each type, most telling first. Other types show all their fields. */
const details: Readonly<Record<string, Detail>> = {
  'run.started': (data) => [text(data['title']), gitText(data['git']), resumedText(data['resumed'])],
  'run.ended': (data) => [outcomeText(data), short(data['result']), ...spendingParts(data)],
  'turn.started': (data) => [text(data['title'])],
  'turn.ended': (data) => [outcomeText(data)],
  'message.added': (data) => [messageText(data['message'])],
  'settings.changed': (data) => [
    text(data['model']),
    Array.isArray(data['tools']) ? plural(data['tools'].length, 'tool') : '',
    data['settings'] === undefined ? '' : short(data['settings']),
    text(data['system'], (system) => `system: ${system}`),
  ],
  'call.started': (data) => [callName(data), effectText(data), requestText(data) || short(data['input'])],
  'call.ended': (data) => [
    callName(data),
    outcomeText(data),
    data['reused'] === true ? 'reused' : '',
    ...spendingParts(data),
    messageText(data['message']) || short(data['output']),
  ],
  'state.committed': (data) => [operationsText(data['operations'])],
  'belief.committed': (data) => [topicText(data), text(data['claim']), numberText('trust', data['trust'])],
  'belief.superseded': (data) => [topicText(data), quote(data['reason'])],
  'contradiction.detected': (data) => [topicText(data), `${list(data['beliefs'])}`],
  'contradiction.settled': (data) => [topicText(data), text(data['strategy']), quote(data['reason'])],
  'decision.made': (data) => [text(data['decision']), quote(data['reason'])],
  'goal.set': (data) => [text(data['goal']), text(data['details'])],
  'note.added': (data) => [text(data['text'])],
  'agent.spawned': (data) => [roleText(data), text(data['model']), scopeText(data['scope'])],
  'agent.changed': (data) => [roleText(data), scopeText(data['scope'])],
  'agent.ended': (data) => [outcomeText(data), quote(data['reason'])],
  'task.started': (data) => [text(data['title']), roleText(data), text(data['prompt'])],
  'task.claimed': (data) => [text(data['model'])],
  'task.ended': (data) => [outcomeText(data), ...spendingParts(data), short(data['result'])],
  'verification.failed': (data) => [`failed: ${list(data['signals'])}`],
  'tests.ran': (data) => [text(data['command']), exitText(data), failuresText(data['failures'])],
  'file.patched': (data) => [text(data['path']), text(data['summary'])],
  'channel.saved': (data) => [namespaceText(data), `${String(data['channel'])} = ${channelText(data)}`],
  'graph.saved': (data) => [
    namespaceText(data),
    text(data['source']),
    text(data['saved']),
    Array.isArray(data['changed']) && data['changed'].length > 0 ? `changed ${list(data['changed'])}` : '',
  ],
  'graph.wrote': (data) => [
    namespaceText(data),
    Array.isArray(data['writes']) ? list(data['writes'].map(writeText)) : '',
    text(data['saved'], (on) => `on ${on}`),
  ],
  'branch.forked': marker((data) => `at ${String((data['parent'] as JsonObject | undefined)?.['seq'] ?? '?')}`),
  'branch.rewound': marker((data) =>
    data['to'] === undefined ? `to turn ${String(data['toTurn'])}` : `to ${String(data['to'])}`,
  ),
  'event.replaced': marker((data) => `${String(data['seq'])} → ${carriedText(data)}`),
  'event.inserted': marker((data) => `after ${String(data['after'])}: ${carriedText(data)}`),
  'event.reverted': marker((data) => list(data['seqs'])),
  'payload.erased': marker((data) => list(data['seqs'])),
};

const text = (value: JsonValue | undefined, wrap: (text: string) => string = (held) => held): string =>
  typeof value === 'string' && value !== '' ? wrap(value.slice(0, detailMax)) : '';
const quote = (value: JsonValue | undefined): string => text(value, (held) => `“${held}”`);
const list = (value: JsonValue | undefined): string =>
  Array.isArray(value)
    ? value.slice(0, listedMax).map(short).join(', ') + (value.length > listedMax ? `, … (${value.length})` : '')
    : '';
const listedMax = 5;
const numberText = (name: string, value: JsonValue | undefined): string =>
  typeof value === 'number' ? `${name} ${value}` : '';
const topicText = (data: JsonObject): string => text(data['topic'], (topic) => `[${topic}]`);
const roleText = (data: JsonObject): string => text(data['role'], (role) => `role ${role}`);
const scopeText = (scope: JsonValue | undefined): string =>
  Array.isArray(scope) ? `sees ${scope.length === 0 ? 'nothing' : list(scope)}` : '';
const exitText = (data: JsonObject): string =>
  data['exitCode'] === undefined ? '' : `exit ${String(data['exitCode'])}`;

function failuresText(failures: JsonValue | undefined): string {
  if (!Array.isArray(failures) || failures.length === 0) return '';
  const names = failures.map((failure) => (isObject(failure) ? String(failure['test'] ?? failure['name']) : '?'));
  return `failed: ${list(names)}`;
}

function resumedText(resumed: JsonValue | undefined): string {
  if (!isObject(resumed)) return '';
  const { with: name, framework, options } = resumed;
  const on = text(name) || (framework === 'function' ? '' : text(framework));
  return ['resumed', on === '' ? '' : `on ${on}`, short(options)].filter((part) => part !== '').join(' ');
}

function callName(data: JsonObject): string {
  return data['kind'] === 'tool' ? String(data['name']) : `${String(data['kind'])} ${String(data['name'])}`;
}

function outcomeText(data: JsonObject): string {
  const { outcome, error } = data;
  const why = isObject(error) ? `: ${short(error['message'] ?? error['name'] ?? '')}` : '';
  return outcome === undefined ? '' : `${String(outcome)}${why}`;
}

function requestText(data: JsonObject): string {
  const messages = isObject(data['request']) ? data['request']['messages'] : undefined;
  if (!Array.isArray(messages)) return '';
  const last = messages.at(-1) as JsonValue | undefined;
  return `${plural(messages.length, 'message')}${last === undefined ? '' : `, last ${messageText(last)}`}`;
}

/** A message on one line: who says what, which tools it asks for, and what they gave. */
export function messageText(message: JsonValue | undefined): string {
  if (message === undefined || (!isMessage(message) && !isObject(message))) return '';
  const said = isMessage(message) ? saidText(message) : short(message['content']);
  return `${String(message['role'] ?? '?')}: ${said}`;
}

function saidText(message: JsonObject): string {
  const said = textOf(message).slice(0, detailMax);
  const calls = toolCallsIn(message).map((call) => `→ ${call.toolName}(${short(call.input)})`);
  const results = toolResultsIn(message).map((result) => `${result.toolName} gave ${short(result.output)}`);
  const parts = [said, ...calls, ...results].filter((part) => part !== '');
  return parts.length === 0 ? short(message['content']) : parts.join(' ');
}

function spendingParts(data: JsonObject): string[] {
  const usage = isObject(data['usage']) ? data['usage'] : {};
  const tokens = Number(usage['inputTokens'] ?? 0) + Number(usage['outputTokens'] ?? 0);
  return [
    tokens > 0 ? `${countText(tokens)} tok` : '',
    typeof data['cost'] === 'number' ? costText(data['cost']) : '',
    typeof data['latencyMs'] === 'number' ? durationText(data['latencyMs']) : '',
  ];
}

/** Where the code stood: `main 1a2b3c4d`, with a star where it was changed. */
export function gitText(git: JsonValue | undefined): string {
  if (!isObject(git)) return '';
  const sha = typeof git['sha'] === 'string' ? git['sha'].slice(0, 8) : '';
  const name = typeof git['branch'] === 'string' ? git['branch'] : '';
  return [name, `${sha}${git['dirty'] === true ? '*' : ''}`].filter((part) => part !== '').join(' ');
}

const namespaceText = (data: JsonObject): string => text(data['namespace'], (path) => `[${path}]`);

function channelText({ items, text: written, body, bytes }: JsonObject): string {
  if (!Array.isArray(items)) return short(written ?? body ?? bytes);
  return `${plural(items.length, 'item')}${items.length === 0 ? '' : `, last ${short(contentOf(items.at(-1)))}`}`;
}

/** Of a message as LangChain stores it, what it says; the stored text of anything else. */
function contentOf(item: JsonValue | undefined): JsonValue | undefined {
  const content =
    typeof item === 'string' ? /"kwargs":\{(?:"id":"[^"]*",)?"content":("(?:[^"\\]|\\.)*")/.exec(item) : null;
  return content === null ? item : (JSON.parse(content[1] as string) as string);
}

function writeText(write: JsonValue): string {
  return isObject(write) ? `${String(write['channel'])} = ${short(write['text'] ?? write['bytes'])}` : '';
}

function operationsText(operations: JsonValue | undefined): string {
  if (!Array.isArray(operations)) return '';
  const told = operations
    .filter(isObject)
    .slice(0, 3)
    .map((operation) =>
      operation['op'] === 'delete'
        ? `delete ${String(operation['key'])}`
        : `${String(operation['key'])} = ${short(operation['value'])}`,
    );
  return told.join('; ') + (operations.length > told.length ? `; … (${operations.length})` : '');
}

function carriedText(data: JsonObject): string {
  const carried = data['event'];
  if (!isObject(carried)) return '?';
  const said = isObject(carried['data']) ? detailOf(carried as unknown as Event) : '';
  return `${String(carried['type'])}${said === '' ? '' : ` ${said}`}`;
}

function otherText(data: JsonObject): string {
  return Object.entries(data)
    .slice(0, 20)
    .map(([key, value]) => `${key}=${short(value)}`)
    .join(' ');
}

const shortMax = 200;

/** A value on one line; a long one with its size. */
export function short(value: JsonValue | undefined): string {
  if (value === undefined) return '';
  const whole = typeof value === 'string' ? value : JSON.stringify(value);
  return whole.length <= shortMax ? whole : `${whole.slice(0, shortMax)}… (${bytesText(utf8Length(whole))})`;
}
