import { RepriseError } from '../core/error.ts';
import type { Event } from '../core/event/event.ts';
import { isStructural } from '../core/event/families/structural.ts';
import { agentHolds } from '../core/event/filter.ts';
import { compilePattern } from '../core/event/pattern.ts';
import { isArray, isObject, type JsonObject, type JsonValue, valueAt } from '../core/json.ts';

/** One rule of an export: its name as a page may say it, and whether it leaves an event out. */
interface ExportRule {
  readonly name: string;
  readonly takes: (event: Pick<Event, 'type' | 'agent' | 'data'>) => boolean;
}

/** The rules of an export. A payload that any of them takes is left out as a whole. */
export type ExportRules = readonly ExportRule[];

const hint =
  'Rules are all, secrets, an event type (message.added, call.*), agent:NAME, tool:NAME, field:PATH, pattern:REGEX and text:WORDS.';

function refuse(rule: unknown, why: string): never {
  throw new RepriseError('option.invalid', `Cannot leave out by ${JSON.stringify(rule)}: ${why}`, { hint });
}

/** Reads the rules of an export from texts. The `secrets` that masking finds are always left out. */
export function exportRulesFrom(rules: readonly unknown[]): ExportRules {
  return rules.map((rule, index) =>
    typeof rule === 'string' ? ruleFrom(rule, index) : refuse(rule, 'it is not a text'),
  );
}

function ruleFrom(rule: string, index: number): ExportRule {
  const [, kind, name = ''] = /^(agent|tool|field|pattern|text):(.*)$/s.exec(rule) ?? [];
  if (kind !== undefined && name === '') refuse(rule, `it names no ${kind}`);
  switch (kind) {
    case 'agent':
      return { name: rule, takes: ({ agent }) => agent !== undefined && agentHolds(name, agent) };
    case 'tool':
      return { name: rule, takes: ({ data }) => holdsTool(data, name) };
    case 'field':
      return { name: rule, takes: ({ data }) => valueAt(data, name.split('.')) !== undefined };
    case 'pattern': {
      const { test } = compilePattern(name);
      return { name: `pattern ${index + 1}`, takes: ({ data }) => test(textsOf(data)) };
    }
    case 'text':
      // A page does not repeat the words that must not be in it.
      return { name: `text ${index + 1}`, takes: ({ data }) => textsOf(data).includes(name) };
    default:
      return typeRule(rule);
  }
}

function typeRule(rule: string): ExportRule {
  if (rule === 'all') return { name: rule, takes: ({ type }) => !isStructural(type) };
  if (rule === 'secrets') return { name: rule, takes: () => false };
  if (isStructural(rule)) refuse(rule, 'a structural event decides how history is read');
  if (/^[a-z][\w-]*\.\*$/i.test(rule))
    return { name: rule, takes: ({ type }) => !isStructural(type) && type.startsWith(rule.slice(0, -1)) };
  if (/^[a-z][\w-]*\.[\w.-]+$/i.test(rule)) return { name: rule, takes: ({ type }) => type === rule };
  return refuse(rule, 'there is no such rule');
}

/** Returns a function that names the rule by which an event is left out; undefined if it stays. */
export function leavesOutBy(
  rules: ExportRules,
  holdsSecret: (data: JsonObject) => boolean,
): (event: Event) => string | undefined {
  return (event) => rules.find(({ takes }) => takes(event))?.name ?? (holdsSecret(event.data) ? 'secrets' : undefined);
}

/** Tells whether data is of a call of a tool, or holds a message that asks for it or has its result. */
function holdsTool(value: JsonValue, name: string): boolean {
  if (isArray(value)) return value.some((item) => holdsTool(item, name));
  if (!isObject(value)) return false;
  const { toolName, name: called, kind } = value;
  if (toolName === name || (called === name && typeof kind === 'string' && kind !== 'model')) return true;
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

/** The payloads that an export leaves out, before it is written. */
export interface ExportPreview {
  readonly ref: string;
  /** Events in the file. */
  readonly events: number;
  readonly branches: number;
  /** How many payloads each rule leaves out. */
  readonly rules: Readonly<Record<string, number>>;
  /** The first of them. */
  readonly leftOut: readonly {
    readonly branch: string;
    readonly seq: number;
    readonly type: string;
    readonly rule: string;
  }[];
  readonly total: number;
}
