import type { EventDraft } from '../../core/event/event.ts';
import { arrayAt, isObject, type JsonObject, type JsonValue, objectAt, stringAt } from '../../core/json.ts';

/** Reads spans of OpenTelemetry; a format of the importers does it. */
export interface SpanFormat {
  /** Reads the protobuf form of an export; undefined if the bytes are something else. */
  readonly documentOf: (bytes: Uint8Array) => JsonObject | undefined;
  /** Returns the events that the spans of a document mean, in their order. */
  readonly draftsOf: (document: JsonObject) => readonly EventDraft[];
}

/** One span, with the resource that it came from. */
export interface SentSpan {
  /** The trace that it belongs to. */
  readonly group: string;
  readonly id: string;
  readonly parent: string | undefined;
  readonly span: JsonObject;
  readonly resource: JsonValue;
}

/** Returns the spans of an export in its JSON form, and how many of them have no ids that could be used. */
export function spansIn(document: JsonObject): { readonly spans: readonly SentSpan[]; readonly refused: number } {
  const spans: SentSpan[] = [];
  let refused = 0;
  for (const group of arrayAt(document, 'resourceSpans') ?? [])
    for (const scope of arrayAt(group, 'scopeSpans') ?? [])
      for (const span of arrayAt(scope, 'spans') ?? []) {
        const sent = isObject(span) ? sentSpan(span, objectAt(group, 'resource') ?? {}) : undefined;
        if (sent === undefined) refused += 1;
        else spans.push(sent);
      }
  return { spans, refused };
}

function sentSpan(span: JsonObject, resource: JsonValue): SentSpan | undefined {
  const [group, id] = [hexAt(span, 'traceId', 32), hexAt(span, 'spanId', 16)];
  return group === undefined || id === undefined
    ? undefined
    : { group, id, parent: hexAt(span, 'parentSpanId', 16), span, resource };
}

/** Returns an id of so many hexadecimal digits; undefined if it is missing, malformed or all zero. */
function hexAt(span: JsonObject, name: string, length: number): string | undefined {
  const text = stringAt(span, name)?.toLowerCase() ?? '';
  return text.length === length && /^[0-9a-f]+$/.test(text) && !/^0+$/.test(text) ? text : undefined;
}

/** The attributes that name the conversation which a trace belongs to. */
const sessionAttributes = ['gen_ai.conversation.id', 'session.id'];

/** The spans of one trace as far as they came, and the events that they mean. */
export class SpanGroup {
  readonly id: string;
  readonly #spans = new Map<string, SentSpan>();
  /** Spans whose events were not stored yet. */
  readonly #fresh = new Set<string>();
  #bytes = 0;

  constructor(id: string) {
    this.id = id;
  }

  /** Whether the trace has a root, and each span its parent: then nothing has to be waited for. */
  get isWhole(): boolean {
    let roots = 0;
    for (const { parent } of this.#spans.values()) {
      if (parent === undefined) roots += 1;
      else if (!this.#spans.has(parent)) return false;
    }
    return roots > 0;
  }

  /** Adds a span; one that came before is the same one. */
  add(span: SentSpan): void {
    if (this.#spans.has(span.id)) return;
    this.#spans.set(span.id, span);
    this.#fresh.add(span.id);
    this.#bytes += JSON.stringify(span).length;
  }

  /** About the bytes that its spans take. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The session that the trace belongs to: the conversation that a span names, else the trace. */
  get session(): string {
    for (const name of sessionAttributes)
      for (const { span } of this.#spans.values()) {
        const held = (arrayAt(span, 'attributes') ?? []).find((attribute) => stringAt(attribute, 'key') === name);
        const text = stringAt(objectAt(held, 'value'), 'stringValue');
        if (text !== undefined && text !== '') return text;
      }
    return this.id;
  }

  /** Returns the spans whose events were not stored yet. */
  get fresh(): readonly string[] {
    return [...this.#fresh];
  }

  /** Takes note that the events of these spans are stored. */
  settle(spans: readonly string[]): void {
    for (const id of spans) this.#fresh.delete(id);
  }

  /** Returns the events of these spans in order, with ids made of the ids of spans. */
  draftsOf(fresh: readonly string[], format: SpanFormat): readonly (EventDraft & { readonly id: string })[] {
    const ids = new Map<string, string[]>();
    for (const id of fresh)
      for (const [index, draft] of this.#ownDrafts(id, format).entries()) {
        const key = JSON.stringify(draft);
        ids.set(key, [...(ids.get(key) ?? []), `${this.id}-${id}-${index}`]);
      }
    return draftsIn([...this.#spans.values()], format).flatMap((draft) => {
      const id = ids.get(JSON.stringify(draft))?.shift();
      return id === undefined ? [] : [{ ...draft, id }];
    });
  }

  /** The events of a span are those that are there with it, and not with the spans around it alone. */
  #ownDrafts(id: string, format: SpanFormat): readonly EventDraft[] {
    const around = this.#ancestors(id);
    const without = draftsIn(around, format).map((draft) => JSON.stringify(draft));
    const own = this.#spans.get(id);
    return draftsIn(own === undefined ? around : [...around, own], format).filter((draft) => {
      const at = without.indexOf(JSON.stringify(draft));
      if (at >= 0) without.splice(at, 1);
      return at < 0;
    });
  }

  #ancestors(id: string): readonly SentSpan[] {
    const found = new Map<string, SentSpan>();
    let next = this.#spans.get(id)?.parent;
    while (next !== undefined && next !== id && !found.has(next)) {
      const span = this.#spans.get(next);
      if (span === undefined) break;
      found.set(next, span);
      next = span.parent;
    }
    return [...found.values()];
  }
}

function draftsIn(spans: readonly SentSpan[], format: SpanFormat): readonly EventDraft[] {
  const resourceSpans = spans.map(({ span, resource }) => ({ resource, scopeSpans: [{ spans: [span] }] }));
  return spans.length === 0 ? [] : format.draftsOf({ resourceSpans });
}
