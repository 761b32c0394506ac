import { RepriseError } from './error.ts';
import { checkId } from './id.ts';
import { given } from './json.ts';
import { kindName, shownValue } from './known-keys.ts';
import { type Seq, seq } from './point.ts';
import { isoTime } from './time.ts';

/** A place on a branch as a person names it, before it is looked up. */
export type At =
  | { readonly kind: 'head' }
  | { readonly kind: 'seq'; readonly seq: Seq }
  | { readonly kind: 'before'; readonly seq: Seq }
  | { readonly kind: 'turn'; readonly turn: number }
  | { readonly kind: 'run'; readonly run: string }
  | { readonly kind: 'time'; readonly time: string }
  | StoryAt;

/** A place in story time: everything of a turn or an earlier one, of what was recorded up to `told`; the head if left out. */
export interface StoryAt {
  readonly kind: 'story';
  readonly story: number;
  readonly told?: Exclude<At, StoryAt>;
}

/** How a person writes a place: `session[/branch][@at]`. */
export interface Ref {
  /** A session id, or `latest`: the session last appended to. */
  readonly session: string;
  readonly branch: string;
  readonly at: At;
}

/**
 * A place inside one session: a point string such as `main@12` or `@turn:3`, or its parts. `turn` means the prefix that
 * ends with that turn. `story` selects what belongs to that turn or an earlier one, whenever it was recorded.
 */
export type PointInput =
  | string
  | { readonly branch?: string; readonly seq: number; readonly story?: number }
  | { readonly branch?: string; readonly turn: number; readonly story?: number }
  | { readonly branch?: string; readonly run: string; readonly story?: number }
  | { readonly branch?: string; readonly time: string; readonly story?: number }
  | { readonly branch?: string; readonly story?: number };

/** The branch every session begins with. */
export const mainBranch = 'main';

/**
 * Reads a ref such as `demo/main@12`, `demo@before:12`, `latest@turn:3` or `demo@time:2026-11-15T10:00:00Z`.
 *
 * @example
 * ```ts
 * parseRef('demo@12'); // { session: 'demo', branch: 'main', at: { kind: 'seq', seq: 12 } }
 * ```
 */
export function parseRef(text: string): Ref {
  const sign = text.indexOf('@');
  const [name, at] = sign < 0 ? [text, 'head'] : [text.slice(0, sign), text.slice(sign + 1)];
  const [session = '', branch, ...more] = name.split('/');
  if (session === '' || more.length > 0) refuseRef(text, 'it is not of the form session[/branch][@at]');
  return {
    session: session === 'latest' ? session : checkId('session', decode(session, text)),
    branch: branch === undefined ? mainBranch : checkId('branch', decode(branch, text)),
    at: parseAt(at, text),
  };
}

const refHint = 'Write session[/branch][@at], for example "demo/careful@12", or { session, branch, at }.';

/** Reads a ref that a program gives: as text, or in its parts. */
export function refOf(input: string | Ref): Ref {
  if (typeof input === 'string') return parseRef(input);
  // A caller without types may pass anything.
  const given: unknown = input;
  if (typeof given !== 'object' || given === null) return refuseRef(shownValue(given), 'it is not text', refHint);
  const { session, branch = mainBranch, at = { kind: 'head' } } = given as Partial<Ref>;
  if (typeof session !== 'string') return refuseRef(shownValue(given), 'it names no session', refHint);
  const name = session === 'latest' ? session : checkId('session', session);
  return { session: name, branch: checkId('branch', branch), at: checkAt(at, session) };
}

const pointHint = 'Write branch@at, for example "main@12", or { branch?, seq | turn | story | run | time }.';

/** The fields of a point and those of an event: an event can be given as the point after it. */
const pointFields: ReadonlySet<string> = new Set(
  'branch seq turn story run time session id type version agent cause causeSeq data digest erased replaces replacedIds'.split(
    ' ',
  ),
);

const placeFields = ['seq', 'turn', 'run', 'time'] as const;

/** Writes a point for a message, without the data that an event carries. */
const refusedText = ({ data: _data, ...input }: PointInput & { readonly data?: unknown } & object): string =>
  Object.keys(input).join(', ');

/** Reads a point inside one session: `main@12`, `@12`, `narrower`, `@turn:3`. */
export function parsePoint(input: PointInput): { readonly branch: string; readonly at: At } {
  if (typeof input === 'string') {
    if (input === '') refuseRef(input, 'it is empty', pointHint);
    const sign = input.indexOf('@');
    const name = sign < 0 ? input : input.slice(0, sign);
    if (name.includes('/')) refuseRef(input, 'a point inside a session has no session in it', pointHint);
    const branch = name === '' ? mainBranch : checkId('branch', decode(name, input));
    return { branch, at: parseAt(sign < 0 ? 'head' : input.slice(sign + 1), input) };
  }
  checkPlain(input);
  const branch = input.branch === undefined ? mainBranch : checkId('branch', input.branch);
  const other = Object.keys(input).find((key) => !pointFields.has(key));
  if (other !== undefined) refuseRef(refusedText(input), `"${other}" is not a field of a point`, pointHint);
  const told = atOf(input);
  const { story } = input;
  if (story === undefined) return { branch, at: told };
  return {
    branch,
    at: { kind: 'story', story: checkTurn(story), ...given({ told: told.kind === 'head' ? undefined : told }) },
  };
}

/** Refuses what has no fields of a point: a list, a date or a handle would otherwise be the head of `main` silently. */
function checkPlain(input: unknown): void {
  if (typeof input !== 'object' || input === null)
    return refuseRef(shownValue(input), 'a point is a string or an object', pointHint);
  if (input instanceof Date) refuseRef('a Date', 'a point names a time as text', 'Write { time: date.toISOString() }.');
  const prototype: unknown = Object.getPrototypeOf(input);
  // An object of a different realm has a prototype of that realm, which has none.
  if (prototype === null || Object.getPrototypeOf(prototype) === null) return;
  const kind = Array.isArray(input) ? kindName(input) : `a ${input.constructor.name}`;
  refuseRef(kind, 'a point is a string or a plain object', pointHint);
}

/** Reads the place on its branch that the fields of a point name. */
function atOf(input: PointInput & object): Exclude<At, StoryAt> {
  const named = placeFields.filter((field) => field in input);
  // An event has all of them, and its seq says where it is.
  if (named.length > 1 && !('type' in input)) refuseRef(named.join(', '), 'it names more than one place', pointHint);
  if ('seq' in input) return { kind: 'seq', seq: seq(input.seq) };
  if ('turn' in input) return { kind: 'turn', turn: checkTurn(input.turn) };
  if ('run' in input) return { kind: 'run', run: checkId('run', input.run) };
  if ('time' in input) return { kind: 'time', time: isoTime(input.time) };
  if (Object.keys(input).some((key) => key !== 'branch' && key !== 'story'))
    refuseRef(refusedText(input), 'it names no point', pointHint);
  return { kind: 'head' };
}

/**
 * Writes a ref as text that {@link parseRef} reads back. A shell takes it as one word, whatever is in the ids.
 *
 * @example
 * ```ts
 * refText({ session: 'a/b', at: { kind: 'turn', turn: 3 } }); // 'a%2Fb@turn:3'
 * ```
 */
export function refText(ref: { readonly session: string; readonly branch?: string; readonly at?: At }): string {
  const branch = ref.branch === undefined || ref.branch === mainBranch ? '' : `/${encode(ref.branch)}`;
  return `${encode(ref.session)}${branch}${ref.at === undefined ? '' : atText(ref.at)}`;
}

/** Writes a point inside one session so that {@link parsePoint} reads the same one: `main`, `main@12`, `a%2Fb@turn:3`. */
export function pointText({ branch, at }: { readonly branch: string; readonly at?: At }): string {
  return `${encode(branch)}${at === undefined ? '' : atText(at)}`;
}

function atText(at: At): string {
  switch (at.kind) {
    case 'head':
      return '';
    case 'seq':
      return `@${at.seq}`;
    case 'before':
      return `@before:${at.seq}`;
    case 'turn':
      return `@turn:${at.turn}`;
    case 'run':
      return `@run:${encode(at.run)}`;
    case 'time':
      return `@time:${at.time}`;
    case 'story':
      if (at.told !== undefined && at.told.kind !== 'head')
        refuseRef(`story:${at.story}`, 'text has no form for a story time with a second place', pointHint);
      return `@story:${at.story}`;
  }
}

function parseAt(text: string, whole: string): At {
  if (text === 'head') return { kind: 'head' };
  if (/^\d+$/.test(text)) return { kind: 'seq', seq: seq(Number(text)) };
  const colon = text.indexOf(':');
  const value = text.slice(colon + 1);
  switch (colon < 0 ? '' : text.slice(0, colon)) {
    case 'before':
      if (/^\d+$/.test(value) && Number(value) > 0) return { kind: 'before', seq: seq(Number(value)) };
      return refuseRef(whole, '"before:" takes a seq from 1');
    case 'turn':
      if (/^\d+$/.test(value)) return { kind: 'turn', turn: checkTurn(Number(value)) };
      return refuseRef(whole, '"turn:" takes a whole number from 0');
    case 'story':
      if (/^\d+$/.test(value)) return { kind: 'story', story: checkTurn(Number(value)) };
      return refuseRef(whole, '"story:" takes a whole number from 0');
    case 'run':
      return { kind: 'run', run: checkId('run', decode(value, whole)) };
    case 'time':
      return { kind: 'time', time: isoTime(value) };
    default:
      return refuseRef(whole, `${JSON.stringify(text)} is not a point on a branch`);
  }
}

/** Returns a place on a branch as a program gives it, or throws if it is not valid. */
function checkAt(at: At, whole: string): At {
  switch (at.kind) {
    case 'head':
      return at;
    case 'seq':
    case 'before':
      return { kind: at.kind, seq: seq(at.seq) };
    case 'turn':
      return { kind: at.kind, turn: checkTurn(at.turn) };
    case 'run':
      return { kind: at.kind, run: checkId('run', at.run) };
    case 'time':
      return { kind: at.kind, time: isoTime(at.time) };
    case 'story': {
      const told = at.told === undefined ? undefined : toldAt(at.told, whole);
      return { kind: at.kind, story: checkTurn(at.story), ...given({ told }) };
    }
    default:
      return refuseRef(whole, `${shownValue(at)} is not a point on a branch`, refHint);
  }
}

/** Returns the second place of a story time, or throws if it is not valid. */
function toldAt(told: At, whole: string): Exclude<At, StoryAt> {
  const at = checkAt(told, whole);
  return at.kind === 'story' ? refuseRef(whole, 'a story time has one story', refHint) : at;
}

/** Returns a place on a branch with a turn of the story: of what was recorded up to that place, what belongs to that turn. */
export function inStory({ branch, at }: { readonly branch: string; readonly at: At }, story: number): PointInput {
  switch (at.kind) {
    case 'head':
    case 'story':
      return { branch, story };
    case 'seq':
      return { branch, seq: at.seq, story };
    case 'before':
      return { branch, seq: at.seq - 1, story };
    case 'turn':
      return { branch, turn: at.turn, story };
    case 'run':
      return { branch, run: at.run, story };
    case 'time':
      return { branch, time: at.time, story };
  }
}

/** Returns a turn, or throws unless it is a whole number from 0. */
export function checkTurn(turn: number): number {
  if (Number.isSafeInteger(turn) && turn >= 0) return turn;
  throw new RepriseError(
    'point.out-of-range',
    `Cannot use ${shownValue(turn)} as a turn: it is not a whole number from 0`,
  );
}

// Characters that separate the parts of a ref, that a shell interprets, or that reverse text on a screen.
const special = /[/@:%\s"'`$&|;<>(){}[\]*?!#\\~\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const utf8 = new TextEncoder();

const encode = (id: string): string => id.replace(special, (c) => Array.from(utf8.encode(c), percent).join(''));
const percent = (byte: number): string => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;

function decode(text: string, whole: string): string {
  if (text.includes(':')) refuseRef(whole, 'a ":" in an id is written %3A');
  try {
    return decodeURIComponent(text);
  } catch {
    return refuseRef(whole, 'a "%" in it is not followed by two hexadecimal digits');
  }
}

function refuseRef(
  text: string,
  why: string,
  hint = 'Write session[/branch][@at], where at is a seq, head, before:SEQ, turn:N, story:N, run:ID or time:ISO; / @ : % in an id are percent-encoded.',
): never {
  throw new RepriseError('ref.invalid', `Cannot read ${JSON.stringify(text.slice(0, 300))} as a ref: ${why}`, { hint });
}
