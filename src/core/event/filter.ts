import { canonicalJson } from '../canonical-json.ts';
import { RepriseError } from '../error.ts';
import { given, type JsonObject, type JsonValue, valueAt } from '../json.ts';
import { shownValue } from '../known-keys.ts';
import { limits } from '../limits.ts';
import { isoTime } from '../time.ts';
import type { Event } from './event.ts';
import { type Pattern, readPattern } from './pattern.ts';

/** A filter over events, as data. Every condition must be met. */
export interface EventFilter {
  /** Any of these types. */
  readonly types?: readonly string[];
  /** This agent exactly, or with a leading `~` any agent whose id contains the rest, whatever its case. */
  readonly agent?: string;
  readonly run?: string;
  readonly turn?: number;
  /** Turns greater than this one. */
  readonly turnAfter?: number;
  /** Of a call: model, tool, http, mcp, process, person. */
  readonly kind?: string;
  /** Of a call: the model, tool or address. */
  readonly name?: string;
  /** Of an end: ok, error, aborted, interrupted, budget or waiting. */
  readonly outcome?: string;
  /** Not before this time. */
  readonly since?: string;
  /** Not after this time. */
  readonly until?: string;
  /** Seqs after this one. */
  readonly after?: number;
  /** Seqs up to and including this one. */
  readonly through?: number;
  /** Each a field and a case-insensitive regular expression that must be found in it. */
  readonly fields?: readonly FieldPattern[];
  /** Text found anywhere in the event, whatever its case. */
  readonly text?: string;
}

/** A field by dotted path, and the case-insensitive regular expression that must be found in it. */
export interface FieldPattern {
  readonly key: string;
  readonly pattern: string;
}

/** The part of an event that a filter can judge without its data. Stored and decoded events both have it. */
export interface FilterHeader {
  readonly seq: number;
  readonly time: string;
  readonly type: string;
  readonly agent?: string | null;
  readonly run?: string | null;
  readonly turn: number;
}

const headerFields = [
  'session',
  'branch',
  'seq',
  'id',
  'time',
  'type',
  'version',
  'agent',
  'run',
  'turn',
  'cause',
] as const satisfies readonly (keyof Event)[];

/**
 * Returns whether an event passes a filter. To judge many events, {@link compileFilter} once.
 *
 * @example
 * ```ts
 * const refunds: EventFilter = { types: ['call.started'], name: 'refund' };
 * for await (const event of session.replay()) if (matches(refunds, event)) console.log(event.seq);
 * ```
 */
export function matches(filter: EventFilter, event: Event): boolean {
  return compileFilter(filter)(event);
}

/** Returns the filter as a function. It checks the filter here, once. */
export function compileFilter(filter: EventFilter): (event: Event) => boolean {
  const checked = checkFilter(filter);
  const { kind, name, outcome } = checked;
  const tests: ((event: Event) => boolean)[] = [(event) => headerFilterHolds(checked, event)];
  if (kind !== undefined) tests.push((event) => isCall(event) && event.data['kind'] === kind);
  if (name !== undefined) tests.push((event) => isCall(event) && event.data['name'] === name);
  if (outcome !== undefined) tests.push((event) => event.data['outcome'] === outcome);
  for (const field of checked.fields ?? []) tests.push(fieldTest(field));
  if (checked.text !== undefined) tests.push(textTest(checked.text));
  return (event) => tests.every((test) => test(event));
}

const isCall = (event: Event): boolean => event.type.startsWith('call.');

/** Returns whether a header passes the conditions that need no data. Stores use it; {@link compileFilter} does the rest. */
export function headerFilterHolds(filter: EventFilter, header: FilterHeader): boolean {
  const { types, agent, run, turn, turnAfter, since, until, after, through } = filter;
  if (after !== undefined && header.seq <= after) return false;
  if (through !== undefined && header.seq > through) return false;
  if (types !== undefined && !types.includes(header.type)) return false;
  if (agent !== undefined && !agentHolds(agent, header.agent)) return false;
  if (run !== undefined && header.run !== run) return false;
  if (turn !== undefined && header.turn !== turn) return false;
  if (turnAfter !== undefined && header.turn <= turnAfter) return false;
  if (since !== undefined && header.time < isoTime(since)) return false;
  return until === undefined || header.time <= isoTime(until);
}

/** Returns true if an agent is the wanted one; `~text` matches a part of its id in any case. */
export function agentHolds(wanted: string, agent: string | null | undefined): boolean {
  if (agent === undefined || agent === null) return false;
  return wanted.startsWith('~') ? agent.toLowerCase().includes(wanted.slice(1).toLowerCase()) : agent === wanted;
}

/** Checks a filter and returns it with its times in the one form that can be compared as text. */
export function checkFilter(filter: EventFilter): EventFilter {
  if (typeof filter !== 'object' || filter === null) refuse(`${shownValue(filter)} is not an object`);
  checkConditions(filter);
  checkText('text', filter.text);
  for (const field of filter.fields ?? []) {
    if (typeof field?.key !== 'string' || typeof field.pattern !== 'string')
      refuse('a field needs a key and a pattern');
    checkText('key', field.key);
    checkText('pattern', field.pattern);
    pathOf(field.key);
    patternOf(field.pattern);
  }
  const { since, until } = filter;
  return {
    ...filter,
    ...given({ since: since === undefined ? since : isoTime(since) }),
    ...given({ until: until === undefined ? until : isoTime(until) }),
  };
}

const conditionTypes: Readonly<Record<string, 'string' | 'number' | 'array'>> = {
  types: 'array',
  agent: 'string',
  run: 'string',
  turn: 'number',
  turnAfter: 'number',
  kind: 'string',
  name: 'string',
  outcome: 'string',
  since: 'string',
  until: 'string',
  after: 'number',
  through: 'number',
  fields: 'array',
  text: 'string',
} satisfies Record<keyof EventFilter, 'string' | 'number' | 'array'>;

/** Refuses an unknown condition: a misspelled one would silently match every event. */
function checkConditions(filter: EventFilter): void {
  for (const [key, value] of Object.entries(filter)) {
    const type = Object.hasOwn(conditionTypes, key) ? conditionTypes[key] : undefined;
    if (type === undefined)
      refuse(`"${key}" is not a condition`, `The conditions are ${Object.keys(conditionTypes).join(', ')}.`);
    else if (value !== undefined && (type === 'array' ? !Array.isArray(value) : typeof value !== type))
      refuse(`its "${key}" is not ${type === 'array' ? 'an array' : `a ${type}`}`);
  }
}

function checkText(what: string, text: string | undefined): void {
  if (text === undefined || text.length <= limits.filterTextMax) return;
  refuse(`its ${what} has ${text.length} characters, at most ${limits.filterTextMax} are allowed ("filterTextMax")`);
}

/**
 * Reads `key=pattern,key=pattern`. A comma or an equals sign that belongs to a key or a pattern is written `\,` or `\=`;
 * in a pattern, only the comma needs it.
 *
 * @example
 * ```ts
 * const filter = parseFilter('type=^call,input.order=7');
 * for await (const event of session.replay({ filter })) console.log(event.seq);
 * ```
 */
export function parseFilter(text: string): EventFilter {
  const fields: FieldPattern[] = [];
  for (const part of splitParts(text)) {
    if (part.pattern === undefined) refuse(`"${part.key}" has no "="`, 'Write key=pattern, separated by commas.');
    else fields.push({ key: part.key.trim(), pattern: part.pattern });
  }
  return checkFilter({ fields });
}

function splitParts(text: string): { key: string; pattern?: string }[] {
  const parts: { key: string; pattern?: string }[] = [];
  let part: { key: string; pattern?: string } = { key: '' };
  const add = (chars: string): void => {
    if (part.pattern === undefined) part.key += chars;
    else part.pattern += chars;
  };
  for (let index = 0; index < text.length; index++) {
    const char = text[index];
    if (char === '\\') {
      const next = text[++index] ?? '';
      add(next === ',' || next === '=' ? next : `\\${next}`);
    } else if (char === ',') {
      parts.push(part);
      part = { key: '' };
    } else if (char === '=' && part.pattern === undefined) part.pattern = '';
    else add(char ?? '');
  }
  return [...parts, part];
}

function pathOf(key: string): readonly string[] {
  const path = key.split('.');
  if (path.includes('')) refuse(`"${key}" is not a field`, 'Write a field as type, agent, or input.order.id.');
  return path;
}

/** Returns field patterns as a function over any JSON object; each must be found at its path. */
export function compileFields(fields: readonly FieldPattern[]): (value: JsonObject) => boolean {
  checkFilter({ fields });
  const tests = fields.map(({ key, pattern }) => ({ path: pathOf(key), expression: patternOf(pattern) }));
  return (value) => tests.every(({ path, expression }) => isFound(expression, valueAt(value, path)));
}

/** Returns the field of an event at a path: of the header, else of the data. */
function fieldOf(event: Event, path: readonly string[]): JsonValue | undefined {
  const [first, ...rest] = path;
  const field = rest.length === 0 ? headerFields.find((name) => name === first) : undefined;
  const inHeader = field === undefined ? undefined : event[field];
  if (inHeader !== undefined) return inHeader;
  if (first === 'data') {
    const held = rest.length === 0 ? event.data : valueAt(event.data, rest);
    if (held !== undefined) return held;
  }
  return valueAt(event.data, path);
}

function fieldTest({ key, pattern }: FieldPattern): (event: Event) => boolean {
  const path = pathOf(key);
  const expression = patternOf(pattern);
  return (event) => isFound(expression, fieldOf(event, path));
}

function isFound(expression: Pattern, value: JsonValue | undefined): boolean {
  return value !== undefined && expression.test(typeof value === 'string' ? value : canonicalJson(value));
}

/** Finds the text as typed and as JSON escapes it: people type quotes and line breaks, or copy them escaped. */
function textTest(text: string): (event: Event) => boolean {
  const plain = text.toLowerCase();
  const escaped = JSON.stringify(text).slice(1, -1).toLowerCase();
  return (event) => {
    const held = JSON.stringify(event).toLowerCase();
    return held.includes(plain) || held.includes(escaped);
  };
}

/** Compiles a pattern for an engine that does not backtrack. It refuses a pattern that the engine cannot run. */
function patternOf(source: string): Pattern {
  const pattern = readPattern(source);
  return 'why' in pattern ? refuse(pattern.why, pattern.hint) : pattern;
}

function refuse(why: string, hint = 'See the filters in docs/guides/look.md.'): never {
  throw new RepriseError('filter.invalid', `Cannot use the filter: ${why}`, { hint });
}
