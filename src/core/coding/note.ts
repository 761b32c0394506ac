import { canonicalJson } from '../canonical-json.ts';
import type { Event } from '../event/event.ts';
import { given, isObject, type JsonInputValue, type JsonObject, type JsonValue, stringAt } from '../json.ts';
import { limits } from '../limits.ts';
import type { Sources } from './sources.ts';

/** The kinds of notes that a coding session keeps, apart from failures, files and risks. */
export type NoteKind = 'goal' | 'constraint' | 'decision' | 'procedure' | 'evidence' | 'fact';

/** A note as a book keeps it, under its kind and its subject. Its text is left out if it is the subject itself. */
export interface NoteEntry extends Sources {
  readonly text?: string;
  /** Of a constraint: whether it must be met; hard if left out. */
  readonly strength?: 'soft';
  /** Of a constraint: its value. */
  readonly value?: JsonValue;
  /** Of a goal: more about its title, which is its subject. */
  readonly details?: string;
}

/** The words of one event: the kind, the subject and the text of a note. */
export interface Said extends Pick<NoteEntry, 'strength' | 'value' | 'details'> {
  readonly kind: NoteKind;
  /** The key of a constraint, the title of a goal, and the text of any other note. */
  readonly subject: string;
  readonly text: string;
}

/** A note with its id, which is the same wherever the same story is recorded. */
export interface Note extends Said, Sources {
  readonly id: string;
}

/** Returns the id of a note: its kind and its subject. */
export function noteId({ kind, subject }: Pick<Said, 'kind' | 'subject'>): string {
  return `${kind}:${subject}`;
}

/** Returns a note as a book keeps it. */
export function noteEntry({ kind: _kind, subject, text, ...details }: Said, sources: Sources): NoteEntry {
  return { ...sources, ...details, ...(text === subject ? {} : { text }) };
}

/** Returns a note that a book keeps, with its kind, its subject and its text. */
export function noteOfEntry(id: string, entry: NoteEntry): Note {
  const end = id.indexOf(':');
  const subject = id.slice(end + 1);
  const kind = id.slice(0, end) as NoteKind;
  return { ...entry, id, kind, subject, text: entry.text ?? subject };
}

/** Reads the note that an event is; undefined if it says nothing. */
export function saidIn({ type, data }: Event): Said | undefined {
  switch (type) {
    case 'goal.set':
      return goalIn(data);
    case 'constraint.set':
      return constraintIn(data);
    case 'decision.made':
      return noteOf('decision', joined([stringAt(data, 'decision'), stringAt(data, 'reason')], ' — '));
    case 'procedure.added':
      return noteOf('procedure', joined([stringAt(data, 'title'), stringAt(data, 'text')], ': '));
    case 'evidence.added':
      return noteOf(
        'evidence',
        joined([stringAt(data, 'title'), contentText(data['content']), stringAt(data, 'source')], ' — '),
      );
    default:
      return noteOf('fact', stringAt(data, 'text'));
  }
}

function goalIn(data: JsonObject): Said | undefined {
  const [title, details] = [stringAt(data, 'goal'), stringAt(data, 'details')];
  const note = noteOf('goal', joined([title, details], ' — '));
  return note === undefined || details === undefined ? note : { ...note, subject: title ?? note.text, details };
}

function constraintIn(data: JsonObject): Said | undefined {
  const key = stringAt(data, 'key');
  if (key === undefined) return undefined;
  const value = data['value'];
  const text = stringAt(data, 'text') ?? (value === undefined ? key : `${key}: ${contentText(value) ?? ''}`);
  const note = noteOf('constraint', text);
  // A constraint that does not say how strong it is must be met: leaving it out is the worse mistake.
  const strength = data['strength'] === 'soft' ? ('soft' as const) : undefined;
  return note === undefined ? undefined : { ...note, subject: key, ...given({ strength, value }) };
}

function noteOf(kind: NoteKind, said: string | undefined): Said | undefined {
  if (said === undefined || said.trim() === '') return undefined;
  const text = said.slice(0, limits.recordCharactersMax).toWellFormed();
  return { kind, subject: text, text };
}

function joined(pieces: readonly (string | undefined)[], by: string): string | undefined {
  const held = pieces.filter((piece) => piece !== undefined && piece !== '');
  return held.length === 0 ? undefined : held.join(by);
}

/** Returns a content of any form as text. */
export function contentText(content: JsonInputValue | undefined): string | undefined {
  if (content === undefined || content === null) return undefined;
  return typeof content === 'string'
    ? content
    : isObject(content) || Array.isArray(content)
      ? canonicalJson(content)
      : String(content);
}
