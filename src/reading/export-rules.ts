import { RepriseError } from '../core/error.ts';
import type { Event } from '../core/event/event.ts';
import { isStructural } from '../core/event/families/structural.ts';
import { agentHolds } from '../core/event/filter.ts';
import { compilePattern } from '../core/event/pattern.ts';
import { isArray, isObject, type JsonObject, type JsonValue, valueAt } from '../core/json.ts';
import { checkKeys, type KnownKeys, optionKeys } from '../core/known-keys.ts';

/** Which payloads an export leaves out: each that matches any of these, as a whole. */
export interface ExportRules {
  /** Types of events. */
  readonly types?: readonly string[];
  /** Agents; `~text` matches a part of their names. */
  readonly agents?: readonly string[];
  /** Tools: their calls, and every message that asks for one or holds its result. */
  readonly tools?: readonly string[];
  /** Fields of the data by dotted path, such as `input.card`. */
  readonly fields?: readonly string[];
  /** Regular expressions, found anywhere in the data, whatever the case. */
  readonly patterns?: readonly string[];
}

const ruleKeys: KnownKeys = optionKeys<ExportRules>(
  'read the rules of an export',
  { types: 'list', agents: 'list', tools: 'list', fields: 'list', patterns: 'list' },
  'the rules of an export',
);

/** Takes a value from outside as rules of an export, or throws. */
export function exportRulesFrom(value: JsonObject): ExportRules {
  const rules = value as ExportRules;
  checkKeys(rules, ruleKeys);
  for (const [name, list] of Object.entries(rules) as [string, readonly unknown[]][])
    if (list.some((item) => typeof item !== 'string' || item === ''))
      refuse(`"${name}" is not a list of texts`, `Write { "${name}": ["…"] }.`);
  const marker = rules.types?.find(isStructural);
  if (marker !== undefined)
    refuse(`"${marker}" is a structural event, which decides how history is read`, 'Name other types.');
  return rules;
}

function refuse(why: string, hint: string): never {
  throw new RepriseError('option.invalid', `Cannot read the rules of an export: ${why}`, { hint });
}

/** Returns a function that names the rule by which an event is left out; undefined if it stays. */
export function leavesOutBy(
  { types = [], agents = [], tools = [], fields = [], patterns = [] }: ExportRules,
  holdsSecret: (data: JsonObject) => boolean,
): (event: Event) => string | undefined {
  const compiled = patterns.map((pattern, index) => ({
    name: `pattern ${index + 1}`,
    test: compilePattern(pattern).test,
  }));
  return ({ type, agent, data }) => {
    if (types.includes(type)) return `type ${type}`;
    const named = agent === undefined ? undefined : agents.find((wanted) => agentHolds(wanted, agent));
    if (named !== undefined) return `agent ${named}`;
    const tool = tools.find((name) => holdsTool(data, name));
    if (tool !== undefined) return `tool ${tool}`;
    const field = fields.find((path) => valueAt(data, path.split('.')) !== undefined);
    if (field !== undefined) return `field ${field}`;
    const text = compiled.length === 0 ? '' : textsOf(data);
    return compiled.find(({ test }) => test(text))?.name ?? (holdsSecret(data) ? 'masking' : undefined);
  };
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
