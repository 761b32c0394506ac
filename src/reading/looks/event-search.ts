import type { CarriedEvent, Event } from '../../core/event/event.ts';
import { compileFilter, type EventFilter } from '../../core/event/filter.ts';
import { given, isArray, isObject, type JsonValue, objectAt } from '../../core/json.ts';
import { checkBytes, limits } from '../../core/limits.ts';
import type { Seq } from '../../core/point.ts';
import type { Session } from '../../engine/session.ts';
import { pointerWord } from './cut-value.ts';
import { type IndexPiece, viewPieces } from './event-index.ts';
import { type EventLine, eventLine } from './shown-events.ts';

/** An event that contains the text of a search. */
export interface SearchHit extends EventLine {
  /** A JSON pointer to the string that contains it; empty if no text was searched for. */
  readonly path: string;
  /** The text around it. */
  readonly excerpt: string;
  /** Where in the excerpt it begins. */
  readonly offset: number;
  readonly length: number;
}

/** A page of a search. */
export interface SearchPage {
  readonly hits: readonly SearchHit[];
  /** Events that this page read. */
  readonly searched: number;
  /** Where the next page begins; undefined if this is the last. */
  readonly next: Seq | undefined;
}

/** Which words to search for, and where. */
export interface SearchReading {
  readonly branch: string;
  readonly seq: Seq;
  /** Found without regard to case; empty if only the filter counts. */
  readonly text: string;
  readonly filter: EventFilter;
  /** Searches raw history instead of the view. */
  readonly isRaw: boolean;
  /** Only events after this one. */
  readonly after?: number;
  /** Ends the page early. */
  readonly isTimeUp?: () => boolean;
}

/** Characters of payload that one page reads, about. */
const charactersMax = 16_777_216;

/** Finds events that contain a text and pass a filter, a page at a time. */
export async function searchEvents(session: Session, reading: SearchReading): Promise<SearchPage> {
  const { branch, seq, isRaw, isTimeUp = () => false } = reading;
  checkBytes('filterTextMax', [reading.text], 'search for so long a text');
  const holds = compileFilter(reading.filter);
  const needle = reading.text.toLowerCase();
  const pieces = isRaw ? [] : await viewPieces(session, branch, seq);
  const isShown = isRaw ? () => true : inView(pieces);
  const hits: SearchHit[] = [];
  let [searched, characters] = [0, 0];
  for await (const event of eventsBySeq(session, reading, pieces.length > 1)) {
    searched++;
    const shown = isRaw ? event : asShown(event);
    if (isShown(event.seq) && holds(shown)) {
      const hit = needle === '' ? { path: '', excerpt: '', offset: 0, length: 0 } : findIn(shown, needle);
      if (hit !== undefined) hits.push({ ...eventLine(shown), ...hit });
    }
    characters += needle === '' ? 100 : sizeOf(event.data);
    const isFull =
      hits.length >= limits.searchHitsMax || searched >= limits.searchEventsMax || characters > charactersMax;
    if (isFull || isTimeUp()) return { hits, searched, next: event.seq < seq ? event.seq : undefined };
  }
  return { hits, searched, next: undefined };
}

/** Seqs of an edited view that are read together. */
const windowSeqs = 256;

/**
 * Yields events by rising seq: stored ones, or, where a view was edited, those of the view, whose lists are read through
 * the edits. A view is in its own order, so it is read a window at a time.
 */
async function* eventsBySeq(
  session: Session,
  { branch, seq, after = 0 }: SearchReading,
  isEdited: boolean,
): AsyncGenerator<Event> {
  const at = { branch, seq };
  if (!isEdited) return yield* session.at(at).replay({ history: 'raw', after });
  for (let from = after; from < seq; from += windowSeqs) {
    const events: Event[] = [];
    const range = { after: from, through: Math.min(from + windowSeqs, seq) };
    for await (const event of session.at(at).replay(range)) events.push(event);
    yield* events.sort((a, b) => a.seq - b.seq);
  }
}

/** Returns true if a seq is in some pieces of a view, which are many at most and mostly few. */
function inView(pieces: readonly IndexPiece[]): (seq: Seq) => boolean {
  const rising = [...pieces].sort((a, b) => a.after - b.after);
  return (seq) => {
    let [low, high] = [0, rising.length - 1];
    while (low <= high) {
      const middle = (low + high) >> 1;
      const piece = rising[middle];
      if (piece === undefined) return false;
      if (seq <= piece.after) high = middle - 1;
      else if (seq > piece.through) low = middle + 1;
      else return true;
    }
    return false;
  };
}

/** Returns the event that a marker carries, as the view shows it. */
function asShown(event: Event): Event {
  const carried =
    event.type === 'event.replaced' || event.type === 'event.inserted' ? objectAt(event.data, 'event') : undefined;
  if (carried === undefined) return event;
  const { type, data, agent, run, turn } = carried as unknown as CarriedEvent;
  const { agent: _agent, run: _run, ...rest } = event;
  return {
    ...rest,
    type,
    data,
    turn,
    ...given({ agent, run }),
  };
}

type Found = Pick<SearchHit, 'path' | 'excerpt' | 'offset' | 'length'>;

/** Characters of the path of a hit. */
const pathMax = 1_000;

/** Characters of an excerpt on each side of what was found. */
const around = 80;

function findIn({ type, agent, data }: Event, needle: string): Found | undefined {
  return findText({ type, agent: agent ?? '' }, needle, '') ?? findText(data, needle, '/data');
}

function findText(value: JsonValue, needle: string, path: string): Found | undefined {
  if (typeof value === 'string') return foundAt(value, needle, path);
  if (typeof value === 'number' || typeof value === 'boolean') return foundAt(String(value), needle, path);
  const entries: Iterable<readonly [string | number, JsonValue]> = isArray(value)
    ? value.entries()
    : isObject(value)
      ? Object.entries(value)
      : [];
  for (const [key, item] of entries) {
    // A key may be as long as a payload; then the path is that of the value around it.
    const word = pointerWord(String(key));
    const at = path.length + word.length < pathMax ? `${path}/${word}` : path;
    const found = (typeof key === 'string' ? foundAt(key, needle, at) : undefined) ?? findText(item, needle, at);
    if (found !== undefined) return found;
  }
  return undefined;
}

function foundAt(text: string, needle: string, path: string): Found | undefined {
  const at = text.toLowerCase().indexOf(needle);
  if (at < 0) return undefined;
  const start = Math.max(0, at - around);
  const excerpt = text.slice(start, at + needle.length + around).toWellFormed();
  return { path, excerpt, offset: at - start, length: needle.length };
}

/** Returns about how many characters a value has, without writing it. */
function sizeOf(value: JsonValue): number {
  if (typeof value === 'string') return value.length;
  let size = 8;
  if (isArray(value)) for (const item of value) size += sizeOf(item);
  else if (isObject(value)) for (const key of Object.keys(value)) size += key.length + sizeOf(value[key] ?? null);
  return size;
}
