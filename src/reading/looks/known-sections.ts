import { canonicalJson } from '../../core/canonical-json.ts';
import { diffValues, type ValueDiff } from '../../core/comparing/value-diff.ts';
import { shippedProjection } from '../../core/event/kept-name.ts';
import { type Projection, project } from '../../core/event/projection.ts';
import { activeAt, always } from '../../core/fleet/active.ts';
import type { FleetTable } from '../../core/fleet/fleet-table.ts';
import { given, isObject, type JsonValue } from '../../core/json.ts';
import type { Sha256 } from '../../core/parts/digest.ts';
import { previous, type Seq } from '../../core/point.ts';
import { refText } from '../../core/ref.ts';
import type { Edit } from '../../core/view/edit.ts';
import type { Session } from '../../engine/session.ts';
import { beliefs, fleet } from '../../projections/fleet.ts';
import { quickEvents } from '../answers/history-facts.ts';
import { type NamedProjection, projectionNamed, shippedProjections } from '../shipped-projections.ts';

/** The value of one projection at a point, and how it changed. */
export interface KnownSection {
  readonly projection: string;
  readonly about: string;
  readonly value: JsonValue;
  /** How it differs from the point before; with edits, from the value without them. */
  readonly changedHere: ValueDiff;
  /** How it differs from the point that was chosen; null if none was. */
  readonly since: { readonly ref: string; readonly diff: ValueDiff } | null;
}

/** Which values to read. */
export interface KnownReading {
  readonly branch: string;
  readonly seq: Seq;
  /** Looks as if these edits were made at the point. */
  readonly edits?: readonly Edit[];
  /** A point to compare with. */
  readonly since?: string;
  /** The agent whose values alone are shown, of projections that have them by agent. */
  readonly eyes?: string;
}

/** Returns every projection that a look can name: those that are shipped, and the fleet, through an agent's eyes. */
export function lookProjections(sha256: Sha256, eyes?: string): readonly NamedProjection[] {
  const seen: Projection<FleetTable, unknown> =
    eyes === undefined
      ? beliefs
      : shippedProjection({ ...beliefs, finish: (table: FleetTable) => activeAt(table, always, { as: eyes }) });
  const about = 'the claims that stand, and who made them';
  return [
    ...shippedProjections(sha256),
    { name: 'beliefs', projection: seen as Projection<unknown, unknown>, about },
    { name: 'fleet', projection: fleet as Projection<unknown, unknown>, about: 'the agents that are there, and tasks' },
  ];
}

/** Finds a projection that a look can name. */
export function lookProjection(name: string, sha256: Sha256, eyes?: string): NamedProjection {
  return lookProjections(sha256, eyes).find((held) => held.name === name) ?? projectionNamed(name, sha256);
}

/** The projections with sections of their own screens: contexts and summaries are shown elsewhere. */
const shownElsewhere: ReadonlySet<string> = new Set(['conversation', 'summary', 'fingerprint']);

/** The projections whose values grow with their history, so that a look at a long one takes as long as the history. */
const growing: ReadonlySet<string> = new Set(['runs', 'simulated']);

/** Returns the projections that a look shows if none are named, and those it leaves out because they would take long. */
export function knownProjections(
  shipped: readonly NamedProjection[],
  seq: Seq,
): { readonly shown: readonly NamedProjection[]; readonly leftOut: readonly NamedProjection[] } {
  const known = shipped.filter(({ name }) => !shownElsewhere.has(name));
  const isLong = ({ name }: NamedProjection): boolean => seq > quickEvents && growing.has(name);
  return { shown: known.filter((held) => !isLong(held)), leftOut: known.filter(isLong) };
}

/** Reads the value of a projection at a point; undefined if nothing was ever known of it and only such are wanted. */
export async function knownSection(
  session: Session,
  named: NamedProjection,
  reading: KnownReading,
  { skipsEmpty = false }: { readonly skipsEmpty?: boolean } = {},
): Promise<KnownSection | undefined> {
  const { name, projection, about } = named;
  const { branch, seq, edits = [], since, eyes } = reading;
  const read = async (
    point: string | { readonly branch: string; readonly seq: number },
    with_: readonly Edit[],
  ): Promise<JsonValue> => {
    const value = await session.at(point).fold(projection, with_.length === 0 ? {} : { edits: with_ });
    return seenBy(named, value as JsonValue, eyes);
  };
  const value = await read({ branch, seq }, edits);
  const before =
    edits.length > 0
      ? await read({ branch, seq }, [])
      : seq === 0
        ? value
        : await read({ branch, seq: previous(seq) }, []);
  if (skipsEmpty && isEmpty(named, value, eyes) && isEmpty(named, before, eyes)) return undefined;
  return {
    projection: name,
    about,
    value,
    changedHere: diffValues(before, value),
    since:
      since === undefined ? null : { ref: await refOf(session, since), diff: diffValues(await read(since, []), value) },
  };
}

function isEmpty(named: NamedProjection, value: JsonValue, eyes: string | undefined): boolean {
  return canonicalJson(value) === canonicalJson(seenBy(named, project(named.projection, []) as JsonValue, eyes));
}

/** Returns the values of one agent, of state, which has them by agent. */
function seenBy({ name }: NamedProjection, value: JsonValue, eyes: string | undefined): JsonValue {
  if (eyes === undefined || name !== 'state' || !isObject(value)) return value;
  return given({ [eyes]: value[eyes] }) as JsonValue;
}

async function refOf(session: Session, point: string): Promise<string> {
  const { branch, seq } = await session.at(point).locate();
  return refText({ session: session.id, branch, at: { kind: 'seq', seq } });
}
