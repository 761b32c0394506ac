import { RepriseError } from '../../core/error.ts';
import type { Event } from '../../core/event/event.ts';
import { isStructural } from '../../core/event/families/structural.ts';
import { compilePattern } from '../../core/event/pattern.ts';
import { isArray, isObject, type JsonValue, valueAt } from '../../core/json.ts';
import type { Masker } from '../../core/masking/masking.ts';

/** Decides which payloads are taken out of a bundle. */
export interface RedactRules {
  /** The rules as a bundle may say them: a text that is looked for is not repeated. */
  readonly said: readonly string[];
  /** Texts that must not be anywhere in the bundle. */
  readonly texts: readonly string[];
  /** Tells whether the payload of an event goes, with everything that repeats its content. */
  readonly takes: (event: Event) => boolean;
}

type Rule = (event: Event) => boolean;

/** Reads the rules of a redaction. */
export function parseRedactRules(rules: readonly string[], mask: Masker | undefined): RedactRules {
  if (rules.length === 0) refuseRule('', 'no rule is given');
  const texts = rules.filter((rule) => rule.startsWith('text:')).map((rule) => rule.slice('text:'.length));
  const takers = rules.filter((rule) => !rule.startsWith('text:')).map((rule) => ruleOf(rule, mask));
  if (texts.includes('')) refuseRule('text:', 'it names no text');
  return {
    said: rules.map((rule) => /^(?:text|pattern)(?=:)/.exec(rule)?.[0] ?? rule),
    texts,
    takes: (event) => !isStructural(event.type) && event.erased !== true && takers.some((takes) => takes(event)),
  };
}

function ruleOf(rule: string, mask: Masker | undefined): Rule {
  if (rule === 'all') return () => true;
  if (rule === 'secrets') {
    if (mask === undefined) refuseRule(rule, 'masking is switched off, so nothing finds secrets');
    return ({ type, data }) => {
      const draft = { type, data };
      return mask(draft) !== draft;
    };
  }
  const [, kind, name] = /^(agent|tool|field|pattern):(.+)$/s.exec(rule) ?? [];
  if (kind === 'agent') return ({ agent }) => agent === name;
  if (kind === 'tool') return ({ data }) => holdsTool(data, name ?? '');
  if (kind === 'field') return ({ data }) => valueAt(data, (name ?? '').split('.')) !== undefined;
  if (kind === 'pattern') {
    const { test } = compilePattern(name ?? '');
    return ({ data }) => test(textsOf(data));
  }
  if (/^[a-z][\w-]*\.\*$/i.test(rule)) return ({ type }) => type.startsWith(rule.slice(0, -1));
  if (/^[a-z][\w-]*\.[\w.-]+$/i.test(rule)) return ({ type }) => type === rule;
  return refuseRule(rule, 'there is no such rule');
}

/** Tells whether data is of a call of a tool, or holds a message that asks for it or has its result. */
function holdsTool(value: JsonValue, name: string): boolean {
  if (isArray(value)) return value.some((item) => holdsTool(item, name));
  if (!isObject(value)) return false;
  const { toolName, name: called, kind } = value;
  if (toolName === name || (called === name && kind === 'tool')) return true;
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

function refuseRule(rule: string, why: string): never {
  throw new RepriseError('option.invalid', `Cannot redact by ${JSON.stringify(rule)}: ${why}`, {
    hint: 'Rules are all, secrets, an event type (message.added, call.*), agent:NAME, tool:NAME, field:PATH, pattern:REGEX and text:WORDS.',
    details: { rule },
  });
}
