import type { Event } from '../../core/event.ts';
import { isObject, type JsonObject, type JsonValue } from '../../core/json.ts';
import { isMessage, textOf, toolCallsIn } from '../../core/message.ts';
import { bytesText, costText, countText, durationText } from './amount.ts';
import { plain } from './text.ts';

/** What an event says, on one line. */
export function detailOf(event: Event): string {
  if (event.erased === true) return 'payload erased';
  const said = partsOf(event).filter((part) => part !== '');
  return plain(said.join('  '));
}

function partsOf({ type, data }: Event): string[] {
  switch (type) {
    case 'message.added':
      return [messageText(data['message'])];
    case 'call.started':
      return [callName(data), text(data['effect'], (effect) => `(${effect})`), requestText(data) || short(data['input'])];
    case 'call.ended':
      return [callName(data), outcomeText(data), messageText(data['message']) || short(data['output']), ...spendingParts(data)];
    case 'run.started':
      return [text(data['title']), gitText(data['git'])];
    case 'run.ended':
    case 'task.ended':
      return [text(data['task']), outcomeText(data), short(data['result']), ...spendingParts(data)];
    case 'verification.failed':
      return [text(data['task']), `failed: ${list(data['signals'])}`];
    case 'state.committed':
      return [operationsText(data['operations'])];
    case 'event.replaced':
      return [`${String(data['seq'])} → ${carriedType(data)}`, text(data['reason'])];
    case 'event.inserted':
      return [`after ${String(data['after'])}: ${carriedType(data)}`, text(data['reason'])];
    case 'event.reverted':
      return [`${list(data['seqs'])}`, text(data['reason'])];
    case 'branch.rewound':
      return [data['to'] === undefined ? `to turn ${String(data['toTurn'])}` : `to ${String(data['to'])}`, text(data['reason'])];
    case 'branch.forked':
      return [`at ${String((data['parent'] as JsonObject | undefined)?.['seq'] ?? '?')}`, text(data['reason'])];
    case 'payload.erased':
      return [`${list(data['seqs'])}`, text(data['reason'])];
    default:
      return [otherText(data)];
  }
}

const text = (value: JsonValue | undefined, wrap: (text: string) => string = (held) => held): string => (typeof value === 'string' && value !== '' ? wrap(value) : '');
const list = (value: JsonValue | undefined): string => (Array.isArray(value) ? value.slice(0, 5).map(String).join(', ') + (value.length > 5 ? `, … (${value.length})` : '') : '');

function callName(data: JsonObject): string {
  return data['kind'] === 'tool' ? String(data['name']) : `${String(data['kind'])} ${String(data['name'])}`;
}

function outcomeText(data: JsonObject): string {
  const { outcome, error } = data;
  const why = isObject(error) ? `: ${String(error['message'] ?? error['name'] ?? '')}` : '';
  return outcome === undefined ? '' : `${String(outcome)}${why}`;
}

function requestText(data: JsonObject): string {
  const messages = isObject(data['request']) ? data['request']['messages'] : undefined;
  if (!Array.isArray(messages)) return '';
  const last = messages.at(-1) as JsonValue | undefined;
  return `${messages.length} messages${last === undefined ? '' : `, last: ${messageText(last)}`}`;
}

function messageText(message: JsonValue | undefined): string {
  if (!isMessage(message)) return '';
  const said = textOf(message);
  const calls = toolCallsIn(message).map((call) => `→ ${call.toolName}(${short(call.input)})`);
  return `${message.role}: ${[said, ...calls].filter((part) => part !== '').join(' ') || short(message.content as unknown as JsonValue)}`;
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

function gitText(git: JsonValue | undefined): string {
  return isObject(git) ? `${String(git['branch'] ?? '')} ${String(git['sha'] ?? '').slice(0, 8)}` : '';
}

function operationsText(operations: JsonValue | undefined): string {
  if (!Array.isArray(operations)) return '';
  return operations
    .filter(isObject)
    .slice(0, 3)
    .map((operation) => (operation['op'] === 'delete' ? `delete ${String(operation['key'])}` : `${String(operation['key'])} = ${short(operation['value'])}`))
    .join('; ');
}

const carriedType = (data: JsonObject): string => (isObject(data['event']) ? String(data['event']['type']) : '?');

function otherText(data: JsonObject): string {
  return Object.entries(data)
    .map(([key, value]) => `${key}=${short(value)}`)
    .join(' ');
}

const shortMax = 200;

/** A value on one line; a long one with its size. */
export function short(value: JsonValue | undefined): string {
  if (value === undefined) return '';
  const whole = typeof value === 'string' ? value : JSON.stringify(value);
  return whole.length <= shortMax ? whole : `${whole.slice(0, shortMax)}… (${bytesText(whole.length)})`;
}
