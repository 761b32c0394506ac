import { type JsonObject, type JsonValue, stringAt } from '../../core/json.ts';
import type { Sha256 } from '../../core/parts/digest.ts';
import type { Point } from '../../core/point.ts';
import type { Ref } from '../../core/ref.ts';
import type { Branch } from '../../engine/branch.ts';
import type { Look } from '../../engine/look.ts';
import type { Reprise } from '../../engine/reprise.ts';
import type { Session } from '../../engine/session.ts';
import type { Grant, Right } from '../guarding/grant.ts';
import { gathered } from '../http/batches.ts';
import { texts } from './answer-texts.ts';

/** The kind of an argument; `?` marks one that may be left out. */
export type ArgumentKind = `${'text' | 'flag' | 'number' | 'list' | 'object' | 'any'}${'' | '?'}`;

/** The arguments of a verb besides those that say where, by name. */
export type Arguments = Readonly<Record<string, ArgumentKind>>;

/** Pages of answers, each as JSON text. */
export type AnswerPages = AsyncIterable<readonly string[]>;

/** The parts that every verb gets. */
export interface StorePlace {
  readonly reprise: Reprise;
  readonly grant: Grant;
  readonly sha256: Sha256;
  /** Returns the signal that ends a stream: when its client leaves and, if it follows, when the server drains. */
  readonly until: (options: { readonly follow?: boolean }) => AbortSignal;
}

/** Where a verb of a session acts. */
export interface SessionPlace extends StorePlace {
  readonly session: Session;
  /** Returns where an event of the session is stored, by its id. */
  readonly locate: (id: string) => Promise<Point | undefined>;
}

/** Where a verb of a branch or a look acts. */
export interface LookPlace extends SessionPlace {
  readonly ref: Ref;
  /** The look at the ref. */
  readonly look: Look;
  /** The branch of the ref. */
  readonly on: Branch;
  /** Returns the look at a different ref of the same session. */
  readonly lookAt: (ref: string) => Look;
}

interface Places {
  /** Nothing says where. */
  readonly store: StorePlace;
  /** `session` names a session. */
  readonly session: SessionPlace;
  /** `ref` names a point: the head of a branch if it has no `@`. */
  readonly look: LookPlace;
  /** `ref` names a branch. */
  readonly branch: LookPlace;
  /** `ref` names a point with an `@`: the verb changes or destroys what is there. */
  readonly point: LookPlace;
}

/** The kind of place where a verb acts. */
export type PlaceKind = keyof Places;

interface EntryAt<Kind extends PlaceKind> {
  /** A sentence that says what the verb does. */
  readonly about: string;
  /** The rights that it takes; `read` alone for a dry run. */
  readonly rights: readonly Right[];
  readonly at: Kind;
  readonly takes?: Arguments;
  /** Whether a token that is bound to an agent may ask for it, as that agent. */
  readonly isOfAgent?: true;
  /** Whether the verb itself recognizes a repeated request by its id. */
  readonly knowsRequests?: true;
  /** Runs a verb with one answer. */
  readonly one?: (place: Places[Kind], input: JsonObject) => Promise<unknown>;
  /** Runs a verb with many answers. */
  readonly many?: (place: Places[Kind], input: JsonObject) => AnswerPages;
}

/** A verb of the wire with one answer or with many. */
export type VerbEntry = {
  [Kind in PlaceKind]:
    | (EntryAt<Kind> & { readonly one: object; readonly many?: never })
    | (EntryAt<Kind> & { readonly many: object; readonly one?: never });
}[PlaceKind];

/** Returns the arguments that the options of a verb are. An option that is forgotten here does not compile. */
export function takes<Options>(names: Readonly<Record<keyof Required<Options>, ArgumentKind>>): Arguments {
  return names;
}

/** The rights of verbs that write history: the engine reads what it writes to. */
export const writing: readonly Right[] = ['read', 'append'];

/** Returns a string among the arguments that the door has checked. */
export function textIn(input: JsonObject, name: string): string {
  return stringAt(input, name) ?? '';
}

/** Returns a list among the arguments that the door has checked. */
export function listIn(input: JsonObject, name: string): readonly JsonValue[] {
  const held = input[name];
  return Array.isArray(held) ? (held as readonly JsonValue[]) : [];
}

/** Splits one argument from the options. The verb itself checks every value that it gets. */
export function apart<Options>(input: JsonObject, ...names: readonly string[]): Options {
  return Object.fromEntries(Object.entries(input).filter(([name]) => !names.includes(name))) as Options;
}

/** Returns items as pages of JSON text. */
export function pagesOf(items: AsyncIterable<unknown>): AnswerPages {
  return gathered(texts(items));
}
