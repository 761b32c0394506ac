import { RepriseError } from '../error.ts';
import { limits } from '../limits.ts';
import { propertiesOf } from '../property.ts';
import { ruleNameUnitsMax } from './mask.ts';
import type { SecretSearch } from './secret-span.ts';

/** A masking rule of a user. */
export interface MaskRule {
  /** The name of the rule, in the event and in the mask. */
  readonly name: string;
  /** Finds secrets in text, and in the names of fields. The whole match is masked, or its first group if it has one. */
  readonly pattern?: RegExp;
  /** The names of fields whose whole values are masked, in any case. */
  readonly fields?: readonly string[];
}

/** Runs code for at most so many milliseconds; returns false if it was stopped. An error of the code is thrown. */
export type RunWithin = (ms: number, body: () => void) => boolean;

/**
 * The rules of a user. Such a pattern may never end on some strings, so it runs with a time limit. A string on
 * which it reaches the limit is masked whole: it is unknown which secrets are in it.
 */
export class OwnRules {
  readonly #patterns: readonly { readonly name: string; readonly pattern: RegExp }[];
  readonly #fields: ReadonlyMap<string, string>;
  readonly #needsLimit: boolean;
  readonly #runWithin: RunWithin | undefined;
  /** Strings on which a pattern reached the limit, with the name of its rule. */
  readonly #stuck = new Map<string, string>();
  /** The search that is being made: its text and its rule. */
  #now: { readonly text: string; readonly rule: string } | undefined;

  constructor(rules: readonly MaskRule[], runWithin: RunWithin | undefined) {
    const checked = rules.map(checkRule);
    this.#patterns = checked.flatMap(({ name, pattern }) => (pattern === undefined ? [] : [{ name, pattern }]));
    // Of several rules for a field, the first one masks it.
    const fields = checked.flatMap(({ name, fields = [] }) =>
      fields.map((field) => [field.toLowerCase(), name] as const),
    );
    this.#fields = new Map(fields.toReversed());
    this.#needsLimit = this.#patterns.some(({ pattern }) => !isPlainPattern(pattern));
    this.#runWithin = runWithin;
  }

  get hasPatterns(): boolean {
    return this.#patterns.length > 0;
  }

  get hasFields(): boolean {
    return this.#fields.size > 0;
  }

  /** Returns the name of the rule that masks a whole field. */
  ruleOfField(name: string): string | undefined {
    return this.#fields.size === 0 ? undefined : this.#fields.get(name.toLowerCase());
  }

  /** Finds the matches of the patterns in a string. */
  find({ text, found }: SecretSearch): void {
    const stuck = this.#stuck.get(text);
    if (stuck !== undefined) {
      found.push({ start: 0, end: text.length, rule: stuck, secret: text, isRemembered: false });
      return;
    }
    for (const { name: rule, pattern } of this.#patterns) {
      this.#now = { text, rule };
      for (const match of text.matchAll(pattern)) {
        const [whole, group] = match;
        const secret = group ?? whole;
        const start = match.index + (group === undefined ? 0 : whole.lastIndexOf(group));
        if (secret !== '') found.push({ start, end: start + secret.length, rule, secret });
      }
    }
    this.#now = undefined;
  }

  /**
   * Runs a walk through an event that calls `find`, with the limit. If a pattern reaches it, the walk is made again, and
   * `report` hears which text is masked whole.
   */
  within<T>(walk: () => T, report: (error: Error) => void): T {
    if (!this.#needsLimit || this.#runWithin === undefined) return walk();
    for (let tries = 1; ; tries++) {
      const done: T[] = [];
      if (this.#runWithin(limits.ownPatternMsMax, () => void done.push(walk()))) return done[0] as T;
      const error = this.#giveUp();
      if (tries === limits.ownPatternTriesMax) throw error;
      report(error);
    }
  }

  #giveUp(): RepriseError {
    const { text, rule } = this.#now ?? { text: '', rule: '' };
    if (this.#stuck.size >= limits.maskedValuesMax) this.#stuck.clear();
    this.#stuck.set(text, rule);
    return new RepriseError(
      'limit.exceeded',
      `Cannot search a text of ${text.length} characters with the masking rule "${rule}": it takes longer than ownPatternMsMax, ${limits.ownPatternMsMax} ms`,
      {
        hint: 'The whole text is masked instead. Write the pattern without a repeat inside a repeat, such as (a+)+.',
        details: { limit: 'ownPatternMsMax', max: limits.ownPatternMsMax, rule },
      },
    );
  }
}

const plainAtom = String.raw`(?:\\[dDwWsSbB.^$*+?()[\]{}|/-]|\[(?:[^\]\\]|\\.)*\]|[^\\^$*+?()[\]{}|])`;
const plainPattern = new RegExp(
  String.raw`^(?:\((?:\?:)?|\)(?![*+?{])|${plainAtom}(?:\{\d{1,3}\})?)*?(?:[*+]|\{\d{1,3},\d{0,3}\})?\)?$`,
);

/**
 * Returns true if a pattern takes linear time on every text: a fixed number of characters, of which only the last may
 * repeat. Such a pattern needs no limit.
 */
export function isPlainPattern({ source }: RegExp): boolean {
  return source.length <= 200 && plainPattern.test(source);
}

/** Takes a value as a rule, or throws `config.invalid`. The pattern it returns finds every match. */
export function checkRule(rule: MaskRule, index: number): MaskRule {
  const refuse = (of: unknown, why: string): never => refuseRule(of, why, `masking.rules[${index}]`);
  const { name, pattern, fields } = propertiesOf(rule);
  if (typeof name !== 'string' || !/^[a-z0-9][a-z0-9-]*$/i.test(name))
    refuse(name, 'its name must be letters, digits and dashes');
  if (rule.name.length > ruleNameUnitsMax) refuse(name, `its name is longer than ${ruleNameUnitsMax} characters`);
  const other = Object.keys(rule ?? {}).find((field) => !['name', 'pattern', 'fields'].includes(field));
  if (other !== undefined) refuse(name, `it has no ${JSON.stringify(other)}`);
  if (pattern === undefined && fields === undefined) refuse(name, 'it has neither "pattern" nor "fields"');
  if (pattern !== undefined && !(pattern instanceof RegExp)) refuse(name, '"pattern" is not a regular expression');
  if (fields !== undefined && !(Array.isArray(fields) && fields.every((field) => typeof field === 'string')))
    refuse(name, '"fields" is not a list of names');
  const { source, flags } = rule.pattern ?? {};
  // Mask every match: a missing `g` or a sticky flag would skip some.
  const global = new Set([...(flags ?? '').replace('y', ''), 'g']);
  return source === undefined ? rule : { ...rule, pattern: new RegExp(source, [...global].join('')) };
}

function refuseRule(name: unknown, why: string, field: string): never {
  throw new RepriseError(
    'config.invalid',
    `Cannot use the masking rule ${JSON.stringify(name) ?? 'without a name'}: ${why}`,
    {
      hint: 'Write a rule as { name, pattern?, fields? }.',
      details: { field },
    },
  );
}
