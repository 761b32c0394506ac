import { RepriseError } from '../../core/error.ts';
import type { Event } from '../../core/event/event.ts';
import { isStructural } from '../../core/event/families/structural.ts';
import { readPattern } from '../../core/event/pattern.ts';
import { isArray, isObject, type JsonObject, type JsonValue, setKey, valueAt } from '../../core/json.ts';
import type { Masker } from '../../core/masking/masking.ts';
import { wordsIn } from '../../core/parts/marker-words.ts';
import { readableData } from '../../core/recording/kept-bytes.ts';
import { carriesEvent } from '../../core/store/event-keys.ts';
import { unwrap } from '../history/stored-events.ts';

/** Decides which payloads are taken out of a bundle, piece by piece: see {@link piecesOf}. */
export interface RedactRules {
  /** The rules as a bundle may say them: a rule does not repeat the text that it looks for. */
  readonly said: readonly string[];
  /** Texts that must not be anywhere in the bundle. */
  readonly texts: readonly string[];
  /** How the payload of an event goes: with everything that repeats its content, or alone; undefined if it stays. */
  readonly takes: (event: Event) => Taking | undefined;
}

/** How a payload goes: with its content wherever that is repeated, or alone, because the rule itself looks everywhere. */
type Taking = 'content' | 'payload';

type Rule = (event: Event) => Taking | undefined;

/** Returns the rule that takes the content of the events that pass a test. */
const content =
  (test: (event: Event) => boolean): Rule =>
  (event) =>
    test(event) ? 'content' : undefined;

/** A piece of an event that can be taken out without the rest. */
export interface Piece {
  /** An event with nothing but the piece as its data: the event itself unless it is a marker. */
  readonly event: Event;
  /** Where a marker seals the piece; undefined for an ordinary event. */
  readonly path?: readonly string[];
}

/** Where a marker seals the data of the event it carries. */
export const carriedPath: readonly string[] = ['event', 'data'];

/** Returns the pieces that rules judge. A marker itself always stays; what people wrote into it can go. */
export function piecesOf(event: Event): readonly Piece[] {
  if (!isStructural(event.type)) return [{ event }];
  const carried = carriesEvent(event.type) ? [{ event: unwrap(event), path: carriedPath }] : [];
  const words = wordsIn(event.data).map(({ path, value }) => ({
    event: { ...event, data: dataAt(path, value) },
    path,
  }));
  return [...carried, ...words];
}

/** Returns data that has a value at a path, and nothing else. */
function dataAt(path: readonly string[], value: JsonValue): JsonObject {
  const [name = '', ...rest] = path;
  const data: Record<string, JsonValue> = {};
  setKey(data, name, rest.length === 0 ? value : dataAt(rest, value));
  return data;
}

/** Reads the rules of a redaction. */
export function parseRedactRules(rules: readonly string[], mask: Masker | undefined): RedactRules {
  if (rules.length === 0) refuseRule('', 'no rule is given');
  const texts = rules.filter((rule) => rule.startsWith('text:')).map((rule) => rule.slice('text:'.length));
  const takers = rules.filter((rule) => !rule.startsWith('text:')).map((rule) => ruleOf(rule, mask));
  if (texts.includes('')) refuseRule('text:', 'it names no text');
  return {
    said: rules.map((rule) => /^(?:text|pattern)(?=:)/.exec(rule)?.[0] ?? rule),
    texts,
    takes: (event) => {
      if (event.erased === true) return undefined;
      const readable = { ...event, data: readableData(event.data) };
      const takings = takers.map((takes) => takes(readable));
      return takings.includes('content') ? 'content' : takings.find((taking) => taking !== undefined);
    },
  };
}

function ruleOf(rule: string, mask: Masker | undefined): Rule {
  if (rule === 'all') return () => 'content';
  if (rule === 'secrets') {
    if (mask === undefined) refuseRule(rule, 'masking is switched off, so nothing finds secrets');
    return content(({ type, data }) => {
      const draft = { type, data };
      return mask(draft) !== draft;
    });
  }
  const [, kind, name] = /^(agent|tool|field|pattern):(.+)$/s.exec(rule) ?? [];
  if (kind === 'agent') return content(({ agent }) => agent === name);
  if (kind === 'tool') return toolRule(name ?? '');
  if (kind === 'field') return content(({ data }) => valueAt(data, (name ?? '').split('.')) !== undefined);
  if (kind === 'pattern') {
    const pattern = readPattern(name ?? '');
    if ('why' in pattern) return refuseRule(rule, pattern.why, pattern.hint);
    return ({ data }) => (pattern.test(textsOf(data)) ? 'payload' : undefined);
  }
  if (/^[a-z][\w-]*\.\*$/i.test(rule)) return content(({ type }) => type.startsWith(rule.slice(0, -1)));
  if (/^[a-z][\w-]*\.[\w.-]+$/i.test(rule)) return content(({ type }) => type === rule);
  return refuseRule(rule, 'there is no such rule');
}

/** Takes the content of the calls of a tool, and every payload with a message that asks for it or has its result. */
function toolRule(name: string): Rule {
  return ({ data }) => {
    if (data['kind'] === 'tool' && data['name'] === name) return 'content';
    return holdsTool(data, name) ? 'payload' : undefined;
  };
}

function holdsTool(value: JsonValue, name: string): boolean {
  if (isArray(value)) return value.some((item) => holdsTool(item, name));
  if (!isObject(value)) return false;
  if (value['toolName'] === name) return true;
  return Object.values(value).some((item) => holdsTool(item, name));
}

/** Returns every key and value, one a line, so that no pattern depends on how JSON writes them. */
function textsOf(value: JsonValue): string {
  const lines: string[] = [];
  const walk = (held: JsonValue): void => {
    if (isArray(held)) held.forEach(walk);
    else if (isObject(held))
      for (const [key, item] of Object.entries(held)) {
        lines.push(key);
        walk(item);
      }
    else if (held !== null) lines.push(String(held));
  };
  walk(value);
  return lines.join('\n');
}

const ruleHint =
  'Rules are all, secrets, an event type (message.added, call.*), agent:NAME, tool:NAME, field:PATH, pattern:REGEX and text:WORDS.';

function refuseRule(rule: string, why: string, hint = ruleHint): never {
  throw new RepriseError('option.invalid', `Cannot redact by ${JSON.stringify(rule)}: ${why}`, {
    hint,
    details: { rule },
  });
}
