import { assert, RepriseError } from '../error.ts';
import type { JsonObject } from '../json.ts';
import { specOf } from './catalogue.ts';
import type { Event } from './event.ts';
import type { EventSpec } from './event-spec.ts';

/** Turns the data of one version of a type into that of the next version. */
type Upcaster = (data: JsonObject) => JsonObject;

/** Upcasters by type, then by the version they start from. */
export type UpcastTable = Readonly<Record<string, Readonly<Record<number, Upcaster>>>>;

/** The released upcasters. An entry never changes: snapshots and receipts contain what it returned. */
export const upcasters: UpcastTable = Object.freeze({});

/**
 * Changes whenever {@link upcasters} gains an entry, or the snapshots so far must not be read any more; part of every
 * snapshot's key.
 */
export const upcastsVersion = 1;

/** The tables that {@link upcast} looks things up in; tests pass their own. */
export interface UpcastOptions {
  readonly table?: UpcastTable;
  /** Returns the catalogue's entry of a type; undefined for a type that Reprise does not write itself. */
  readonly specOf?: (type: string) => EventSpec | undefined;
}

/**
 * Returns the event with its data in the form of the current version. A version that only added fields keeps that form,
 * so an event of the version before it is returned as it is, under its own version. Unknown types are returned as they
 * are. A version that this release does not know is refused: a fold would have to guess its meaning.
 */
export function upcast(event: Event, options: UpcastOptions = {}): Event {
  const spec = (options.specOf ?? specOf)(event.type);
  if (spec === undefined || event.version === spec.version) return event;
  if (event.version > spec.version) refuse(event, spec.version);
  const path = upcastersFor(event, spec, options.table ?? upcasters);
  if (path.length === 0) return event;
  if (event.erased === true) return { ...event, version: spec.version };
  return { ...event, version: spec.version, data: path.reduce((data, next) => next(data), event.data) };
}

/** Returns whether data of a version has the form of the type's current version, apart from fields added since. */
export function hasCurrentForm(event: { readonly type: string; readonly version: number }, spec: EventSpec): boolean {
  if (event.version === spec.version) return true;
  return event.version < spec.version && upcastersFor(event, spec, upcasters).length === 0;
}

/** Returns the upcasters between an event's version and the current one; a version that only added fields has none. */
function upcastersFor(
  { type, version: from }: { readonly type: string; readonly version: number },
  spec: EventSpec,
  table: UpcastTable,
): Upcaster[] {
  if (!(Number.isSafeInteger(from) && from >= 1)) throw neverWritten(type, from);
  const path: Upcaster[] = [];
  const ofType = Object.hasOwn(table, type) ? table[type] : undefined;
  for (let version = from; version < spec.version; version++) {
    const next = ofType?.[version];
    if (next !== undefined) path.push(next);
    else assert(addsFields(spec, version + 1), `version ${version} of "${type}" has no upcaster`);
  }
  return path;
}

function addsFields(spec: EventSpec, version: number): boolean {
  return Object.values(spec.fields).some(({ since }) => since === version);
}

/** Returns the error for a version that is not a whole number from 1: only damage leaves it. */
function neverWritten(type: string, version: number): RepriseError {
  return new RepriseError(
    'store.damaged',
    `Cannot fold an event of "${type}": no release wrote version ${version} of it`,
    {
      hint: 'Run verify: the store was damaged or changed.',
      details: { type, version },
    },
  );
}

function refuse(event: Event, current: number): never {
  throw new RepriseError(
    'event.newer-version',
    `Cannot fold event ${event.seq} of "${event.branch}": "${event.type}" has version ${event.version}, this release knows ${current}`,
    {
      hint: 'Update Reprise, or read the raw event.',
      details: { type: event.type, version: event.version, known: current, seq: event.seq, branch: event.branch },
    },
  );
}
