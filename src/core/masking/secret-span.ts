import { masksIn } from './mask.ts';

/** A stretch of a string that is a secret. */
export interface SecretSpan {
  readonly start: number;
  readonly end: number;
  /** The name of the rule that found it. */
  readonly rule: string;
  /** The secret itself, without the escapes of the text around it. */
  readonly secret: string;
  /** The quotes to put around the mask, so that JSON text stays JSON. */
  readonly quote?: string;
  /** False if equal text elsewhere is not masked because of this one. */
  readonly isRemembered?: boolean;
}

/** A search for secrets in one text. */
export interface SecretSearch {
  readonly text: string;
  /** The spans so far, those of the rules that go first first. */
  readonly found: SecretSpan[];
  /** Counts the characters that the rules looked at, so that tests can tell that their work is linear in the text. */
  effort: number;
}

/** Begins a search. */
export function createSearch(text: string): SecretSearch {
  return { text, found: [], effort: 0 };
}

/** Adds the span of a secret that is in the text unescaped; returns its end. */
export function addSpan(search: SecretSearch, rule: string, start: number, end: number): number {
  search.found.push({ start, end, rule, secret: search.text.slice(start, end) });
  return end;
}

/**
 * Returns the spans of a search in order, without overlaps. Of spans that overlap, the whole stretch is masked, under
 * the rule that found it first. A mask in the text is not a secret: masking twice changes nothing.
 */
export function settledSpans({ text, found }: SecretSearch): readonly SecretSpan[] {
  if (found.length === 0) return found;
  const masks = masksIn(text);
  const settled: SecretSpan[] = [];
  let next = 0;
  // The sort is stable: of equal spans, the one of the first rule comes first.
  for (const span of found.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    while ((masks[next]?.end ?? Number.POSITIVE_INFINITY) <= span.start) next++;
    if ((masks[next]?.start ?? Number.POSITIVE_INFINITY) <= span.start) continue;
    const last = settled.at(-1);
    if (last === undefined || span.start >= last.end) settled.push(span);
    else if (span.end > last.end)
      settled[settled.length - 1] = { ...last, end: span.end, secret: text.slice(last.start, span.end) };
  }
  return settled;
}

/** Returns a string with its spans replaced. */
export function withoutSpans(text: string, spans: readonly SecretSpan[], maskOf: (span: SecretSpan) => string): string {
  let result = '';
  let at = 0;
  for (const span of spans) {
    const quote = span.quote ?? '';
    result += text.slice(at, span.start) + quote + maskOf(span) + quote;
    at = span.end;
  }
  return result + text.slice(at);
}
