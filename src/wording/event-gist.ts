import { specOf } from '../core/event/catalogue.ts';
import type { Event } from '../core/event/event.ts';
import type { GistWriter } from '../core/event/gist-writer.ts';
import { isArray, isObject, type JsonObject, type JsonValue, objectAt, stringAt } from '../core/json.ts';
import { isMessage, partsOf, textOf, toolCallsIn, toolResultsIn } from '../core/message/message.ts';
import { utf8Length } from '../core/utf8.ts';
import { bytesText, costText, countText, durationText, plural } from './amount.ts';
import { plain } from './text.ts';

/** Describes an event in one line, as its entry of the catalogue says; other types show all their fields. */
export function detailOf(event: Pick<Event, 'type' | 'data' | 'erased'>): string {
  if (event.erased === true) return 'payload erased';
  const gist = specOf(event.type)?.gist;
  const pieces = gist === undefined ? [fieldsText(event.data)] : gist(event.data, gistWriter);
  const line = pieces.filter((piece) => piece !== '').join('  ');
  return plain(line.slice(0, detailMax));
}

// No terminal is wider, so text beyond this is not searched for escape codes.
const detailMax = 4_000;
const listedMax = 5;

const text: GistWriter['text'] = (value, wrap = (held) => held) =>
  typeof value === 'string' && value !== '' ? wrap(value.slice(0, detailMax)) : '';

const gistWriter: GistWriter = {
  text,
  quote: (value) => text(value, (held) => `“${held}”`),
  number: (name, value) => (typeof value === 'number' ? `${name} ${value}` : ''),
  value: short,
  list: listText,
  count: (items, noun) => (isArray(items) ? plural(items.length, noun) : ''),
  message: messageText,
  outcome: outcomeText,
  spending: spendingParts,
  git: gitText,
  event: carriedText,
};

function listText(items: JsonValue | undefined): string {
  if (!isArray(items)) return '';
  const more = items.length > listedMax ? `, … (${items.length})` : '';
  return items.slice(0, listedMax).map(short).join(', ') + more;
}

function outcomeText(data: JsonObject): string {
  const { outcome } = data;
  const error = objectAt(data, 'error');
  const why = error === undefined ? '' : `: ${short(error['message'] ?? error['name'] ?? '')}`;
  return outcome === undefined ? '' : `${String(outcome)}${why}`;
}

/** A message on one line: its role, its text, its tool calls and their results. */
function messageText(message: JsonValue | undefined): string {
  if (!isObject(message)) return '';
  const said = isMessage(message) ? saidText(message) : short(message['content']);
  return `${String(message['role'] ?? '?')}: ${said}`;
}

function saidText(message: JsonObject): string {
  const said = textOf(message).slice(0, detailMax);
  const calls = toolCallsIn(message).map((call) => `→ ${call.toolName}(${short(call.input)})`);
  const results = toolResultsIn(message).map((result) => `${result.toolName} returned ${short(result.output)}`);
  const parts = [said, ...calls, ...results].filter((part) => part !== '');
  if (parts.length > 0) return parts.join(' ');
  const thought = partsOf(message).find((part) => part.type === 'reasoning');
  return thought === undefined ? short(message['content']) : `(thinking) ${short(thought.text)}`;
}

function spendingParts(data: JsonObject): string[] {
  const usage = objectAt(data, 'usage') ?? {};
  const tokens = Number(usage['inputTokens'] ?? 0) + Number(usage['outputTokens'] ?? 0);
  return [
    tokens > 0 ? `${countText(tokens)} tok` : '',
    typeof data['cost'] === 'number' ? costText(data['cost']) : '',
    typeof data['latencyMs'] === 'number' ? durationText(data['latencyMs']) : '',
  ];
}

/** Returns where the code stood: `main 1a2b3c4d`, with a star if the working tree had changes. */
export function gitText(git: JsonValue | undefined): string {
  if (!isObject(git)) return '';
  const sha = stringAt(git, 'sha')?.slice(0, 8) ?? '';
  return [stringAt(git, 'branch') ?? '', `${sha}${git['dirty'] === true ? '*' : ''}`]
    .filter((part) => part !== '')
    .join(' ');
}

function carriedText(carried: JsonValue | undefined): string {
  if (!isObject(carried)) return '?';
  const type = String(carried['type']);
  const data = objectAt(carried, 'data');
  const line = data === undefined ? '' : detailOf({ type, data });
  return `${type}${line === '' ? '' : ` ${line}`}`;
}

function fieldsText(data: JsonObject): string {
  return Object.entries(data)
    .slice(0, 20)
    .map(([key, value]) => `${key}=${short(value)}`)
    .join(' ');
}

const shortMax = 200;

/** Returns a value on one line; a long one is cut and followed by its size. */
export function short(value: JsonValue | undefined): string {
  if (value === undefined) return '';
  const whole = typeof value === 'string' ? value : JSON.stringify(value);
  return whole.length <= shortMax ? whole : `${whole.slice(0, shortMax)}… (${bytesText(utf8Length(whole))})`;
}
