import assert from 'node:assert/strict';
import type { ErrorCode } from '../../src/core/error.ts';
import { RepriseError } from '../../src/core/error.ts';
import type { Event, EventDraft } from '../../src/core/event/event.ts';
import type { Reprise } from '../../src/engine/reprise.ts';
import type { Session } from '../../src/engine/session.ts';

/** Opens Reprise on a fresh, empty store. */
export type OpenFresh = () => Promise<Reprise>;

/** One behavior that Reprise must have on every store. */
export interface VerbCase {
  readonly title: string;
  run(open: OpenFresh): Promise<void>;
}

/** A case on one new session. */
export function onSession(title: string, check: (session: Session, reprise: Reprise) => Promise<void>): VerbCase {
  return {
    title,
    run: async (open) => {
      await using reprise = await open();
      await check(await reprise.createSession('demo'), reprise);
    },
  };
}

/** A note that says something. */
export function note(text: string, more: Partial<EventDraft> = {}): EventDraft {
  return { type: 'note.added', data: { text }, ...more };
}

/** Notes for letters: `notes('abc')` is three of them. */
export function notes(letters: string, more: Partial<EventDraft> = {}): EventDraft[] {
  return letters.split('').map((letter) => note(letter, more));
}

/** Joins the notes of a history into one string. */
export async function said(events: AsyncIterable<Event>): Promise<string> {
  let text = '';
  for await (const event of events)
    text += event.erased === true ? '✕' : String(event.data['text'] ?? `[${event.type}]`);
  return text;
}

/** Collects an async iterable. */
export async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

/** Asserts that a call is refused with a code and a message that says what was attempted. */
export async function refuses(code: ErrorCode, what: () => unknown): Promise<RepriseError> {
  let thrown: unknown;
  try {
    await what();
  } catch (error) {
    thrown = error;
  }
  assert.ok(thrown instanceof RepriseError, `expected ${code}, got ${String(thrown)}`);
  assert.equal(thrown.code, code, thrown.message);
  assert.match(thrown.message, /^Cannot /);
  return thrown;
}
