import { assert, RepriseError } from '../error.ts';
import type { JsonObject } from '../json.ts';
import { specOf } from './catalogue.ts';
import type { Event } from './event.ts';

/** Turns the data of one version of a type into that of the next version. */
export type Upcaster = (data: JsonObject) => JsonObject;

/** Upcasters by type, then by the version they start from. */
export type UpcastTable = Readonly<Record<string, Readonly<Record<number, Upcaster>>>>;

/** The released upcasters. An entry is never changed: what it once gave is in snapshots and receipts. */
export const upcasters: UpcastTable = Object.freeze({});

/** Changes whenever {@link upcasters} gains an entry; part of every snapshot's key. */
export const upcastsVersion = 1;

/** Where an event's way to the current version is looked up; given by tests, left out otherwise. */
export interface UpcastOptions {
  readonly table?: UpcastTable;
  /** The current version of a type; undefined for a type that Reprise does not write itself. */
  readonly versionOf?: (type: string) => number | undefined;
}

/**
 * The event with its data in the current version of its type. Unknown types pass as they are. A version that this
 * release does not know yet is refused: a fold would have to guess what it means.
 */
export function upcast(event: Event, options: UpcastOptions = {}): Event {
  const current = (options.versionOf ?? versionOf)(event.type);
  if (current === undefined || event.version === current) return event;
  if (event.version > current) refuse(event, current);
  if (event.erased === true) return { ...event, version: current };
  const table = options.table ?? upcasters;
  let data = event.data;
  for (let version = event.version; version < current; version++) {
    const next = Object.hasOwn(table, event.type) ? table[event.type]?.[version] : undefined;
    assert(next !== undefined, `version ${version} of "${event.type}" has no upcaster`);
    data = next(data);
  }
  return { ...event, version: current, data };
}

const versionOf = (type: string): number | undefined => specOf(type)?.version;

function refuse(event: Event, current: number): never {
  throw new RepriseError(
    'event.newer-version',
    `Cannot fold event ${event.seq} of "${event.branch}": "${event.type}" has version ${event.version}, this release knows ${current}`,
    {
      hint: 'Update Reprise, or look at the raw event.',
      details: { type: event.type, version: event.version, known: current, seq: event.seq, branch: event.branch },
    },
  );
}
