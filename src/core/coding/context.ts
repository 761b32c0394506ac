import { limits } from '../limits.ts';
import type { Seq } from '../point.ts';
import { utf8Length } from '../utf8.ts';
import { type ContextSection, contextSections, type HeldRecord, inOrder } from './record.ts';
import { neverTainted, type TaintCheck } from './taint.ts';

/** Counts the tokens of a line of text, under a name that a log can keep. */
export interface TokenCounter {
  readonly name: string;
  readonly count: (line: string) => number;
}

/** The counter that is used if none is given: bytes in UTF-8 divided by 4, rounded up. */
export const defaultCounter: TokenCounter = { name: 'bytes/4', count: (line) => Math.ceil(utf8Length(line) / 4) };

/** Why a record is in a context or not. */
export type Explanation =
  | { readonly id: string; readonly why: 'in' | 'cut' | 'quarantined' | 'superseded'; readonly required: boolean }
  | {
      readonly id: string;
      readonly why: 'no room';
      readonly required: false;
      readonly needs: number;
      readonly had: number;
    };

/** The text that a model is shown within a budget, and why each record is in it or not. */
export interface CodingContext {
  readonly text: string;
  readonly tokens: number;
  readonly budgetTokens: number;
  /** How far the required records go beyond the budget. */
  readonly overBy: number;
  /** The name of the counter. */
  readonly counter: string;
  readonly explained: readonly Explanation[];
}

/** How to make a context. */
export interface ContextSettings {
  readonly budgetTokens: number;
  readonly counter: TokenCounter;
  /** Whether a text contains something quarantined. */
  readonly isTainted: TaintCheck;
  /** The seqs of events that risks set aside. */
  readonly setAside: ReadonlySet<Seq>;
}

/**
 * Makes a context: required records whatever the budget, then the others in order until the first that does not fit, so
 * that a larger budget never shows less. Nothing quarantined is in it, required or not.
 */
export function contextOf(records: readonly HeldRecord[], settings: ContextSettings): CodingContext {
  const sorted = inOrder(records);
  const page = new ContextPage(settings);
  for (const held of sorted) if (held.isRequired) page.take(held);
  for (const held of sorted) if (!held.isRequired) page.take(held);
  return page.finish();
}

/** The text of a record as it is shown. */
interface ShownText {
  readonly text: string;
  readonly isCut: boolean;
}

/** Characters before a line in which a quarantined piece may begin, escapes included. */
const tailCharacters = 96;
const cutMark = ' … (cut)';
/** How much shorter each try to cut text is. */
const cutFactor = 0.9;

class ContextPage {
  readonly #settings: ContextSettings;
  readonly #explained: Explanation[] = [];
  readonly #lines = new Map<ContextSection, string[]>();
  #used = 0;
  #isFull = false;
  /** The end of the text so far: sections are filled in their order. */
  #tail = '';

  constructor(settings: ContextSettings) {
    this.#settings = settings;
  }

  take(held: HeldRecord): void {
    const { record, section, isRequired } = held;
    if (section === undefined) {
      const why = record.status === 'quarantined' ? 'quarantined' : 'superseded';
      this.#explained.push({ id: record.id, why, required: false });
    } else {
      const shown = isRequired ? { text: record.text, isCut: false } : this.#cut(record.text);
      if (this.#isUnsafe(held, shown.text))
        this.#explained.push({ id: record.id, why: 'quarantined', required: isRequired });
      else this.#place(held, section, shown);
    }
  }

  #isUnsafe({ record, section, holders }: HeldRecord, shown: string): boolean {
    const { isTainted, setAside } = this.#settings;
    if (setAside.size > 0 && holders.some((holder) => setAside.has(holder))) return true;
    if (isTainted === neverTainted) return false;
    // A piece may begin in the lines before, in the heading, or in the text that is cut off.
    const heading = section === undefined || this.#lines.has(section) ? '' : `## ${section}\n`;
    const isUnsafe = (text: string): boolean => isTainted(`${this.#tail}${heading}- ${text}\n`);
    return isUnsafe(record.text) || (shown !== record.text && isUnsafe(shown));
  }

  #place({ record, isRequired }: HeldRecord, section: ContextSection, { text, isCut }: ShownText): void {
    const { counter, budgetTokens } = this.#settings;
    const lines = this.#lines.get(section);
    const needs = counter.count(`- ${text}\n`) + (lines === undefined ? counter.count(`## ${section}\n`) : 0);
    const had = Math.max(0, budgetTokens - this.#used);
    if (!isRequired && (this.#isFull || this.#used + needs > budgetTokens)) {
      this.#isFull = true;
      this.#explained.push({ id: record.id, why: 'no room', required: false, needs, had });
      return;
    }
    this.#used += needs;
    if (lines === undefined) this.#lines.set(section, [`- ${text}\n`]);
    else lines.push(`- ${text}\n`);
    this.#goOn(`${lines === undefined ? `## ${section}\n` : ''}- ${text}\n`);
    this.#explained.push({ id: record.id, why: isCut ? 'cut' : 'in', required: isRequired });
  }

  #goOn(placed: string): void {
    if (this.#settings.isTainted !== neverTainted) this.#tail = `${this.#tail}${placed}`.slice(-tailCharacters);
  }

  #cut(text: string): ShownText {
    const { count } = this.#settings.counter;
    if (count(`${text}\n`) <= limits.contextItemTokensMax) return { text, isCut: false };
    let end = text.length;
    const shortened = (): string => `${text.slice(0, end).toWellFormed()}${cutMark}`;
    while (end > 0 && count(`${shortened()}\n`) > limits.contextItemTokensMax) end = Math.floor(end * cutFactor);
    return { text: shortened(), isCut: true };
  }

  finish(): CodingContext {
    const { budgetTokens, counter } = this.#settings;
    const sections = contextSections.filter((section) => this.#lines.has(section));
    return {
      text: sections.map((section) => `## ${section}\n${(this.#lines.get(section) ?? []).join('')}`).join(''),
      tokens: this.#used,
      budgetTokens,
      overBy: Math.max(0, this.#used - budgetTokens),
      counter: counter.name,
      explained: this.#explained,
    };
  }
}
