import { given, isObject, type JsonObject, numberAt, objectAt, stringAt } from '../core/json.ts';
import { asText } from './json-text.ts';
import { objectsIn } from './message-list.ts';
import type { StreamEvent, StreamFold, StreamOptions } from './protocol.ts';

/** A candidate of a streamed answer while it arrives. */
interface GrowingCandidate {
  own: JsonObject;
  content: JsonObject;
  readonly parts: JsonObject[];
}

/** Puts a streamed content together. */
export class GeminiFold implements StreamFold {
  #head: JsonObject = {};
  readonly #candidates = new Map<number, GrowingCandidate>();
  /** The protocol has no last event: a stream is whole when it ends after a reason to stop. */
  readonly isFinished = false;
  hasToken = false;

  add(event: StreamEvent): void {
    const { data } = event;
    if (typeof data === 'string') return;
    this.hasToken ||= geminiSpeaks(event);
    const { candidates, ...head } = data;
    this.#head = { ...this.#head, ...head };
    for (const candidate of objectsIn(candidates)) this.#addCandidate(candidate);
  }

  #addCandidate({ content, ...own }: JsonObject): void {
    const index = numberAt(own, 'index') ?? 0;
    const candidate = this.#candidates.get(index) ?? { own: {}, content: {}, parts: [] };
    this.#candidates.set(index, candidate);
    candidate.own = { ...candidate.own, ...own };
    if (!isObject(content)) return;
    const { parts, ...rest } = content;
    candidate.content = { ...candidate.content, ...rest };
    for (const part of objectsIn(parts)) addPart(candidate.parts, part);
  }

  body(): JsonObject {
    const candidates = [...this.#candidates]
      .toSorted(([a], [b]) => a - b)
      .map(([, { own, content, parts }]) => ({
        ...(Object.keys(content).length + parts.length > 0
          ? { content: { ...content, ...(parts.length > 0 ? { parts } : {}) } }
          : {}),
        ...own,
      }));
    return candidates.length === 0 ? this.#head : { candidates, ...this.#head };
  }
}

/** Pieces of one text are one part; a piece that carries anything else, such as a signature, stays separate. */
function addPart(parts: JsonObject[], part: JsonObject): void {
  const last = parts.at(-1);
  const isSame = isPlainText(part) && last !== undefined && isPlainText(last) && last['thought'] === part['thought'];
  if (isSame) parts[parts.length - 1] = { ...last, text: `${asText(last['text'])}${asText(part['text'])}` };
  else parts.push(part);
}

const isPlainText = (part: JsonObject): boolean =>
  typeof part['text'] === 'string' && Object.keys(part).every((key) => key === 'text' || key === 'thought');

/** Returns true if an event carries a piece of what the model says. */
export function geminiSpeaks({ data }: StreamEvent): boolean {
  if (typeof data === 'string') return false;
  return objectsIn(data['candidates']).some((candidate) =>
    objectsIn(objectAt(candidate, 'content')?.['parts']).some(
      (part) => (stringAt(part, 'text') ?? '') !== '' || part['functionCall'] !== undefined,
    ),
  );
}

/** Writes a whole answer as the events of a stream. */
export function* geminiEvents(body: JsonObject, { cut = (text) => [text] }: StreamOptions): Iterable<StreamEvent> {
  const { candidates, usageMetadata, ...head } = body;
  const all = objectsIn(candidates);
  if (all.length === 0) return yield { data: body };
  for (const { content, index = 0 } of all) {
    const { parts, ...rest } = isObject(content) ? content : {};
    for (const part of objectsIn(parts).flatMap((each) => piecesOf(each, cut)))
      yield { data: { candidates: [{ content: { ...rest, parts: [part] }, index }], ...head } };
  }
  const ends = all.map(({ content, ...own }) => {
    const { parts: _, ...rest } = isObject(content) ? content : {};
    return { ...(isObject(content) ? { content: rest } : {}), ...own };
  });
  yield { data: { candidates: ends, ...head, ...given({ usageMetadata }) } };
}

function piecesOf(part: JsonObject, cut: NonNullable<StreamOptions['cut']>): readonly JsonObject[] {
  if (!isPlainText(part)) return [part];
  return cut(asText(part['text']), part['thought'] === true ? 'reasoning' : 'text').map((text) => ({ ...part, text }));
}
