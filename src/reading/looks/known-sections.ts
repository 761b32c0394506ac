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
import type { Engine } from '../../engine/context/engine.ts';
import { folds } from '../../engine/history/fold.ts';
import type { Hypothesis } from '../../engine/history/hypothesis.ts';
import { findPlace, type Place, pointOf } from '../../engine/history/place.ts';
import { type Sight, sightAt, sightBeside } from '../../engine/history/sight.ts';
import { hypothesisFor } from '../../engine/looking/fold-options.ts';
import { engineOf, type Session } from '../../engine/session.ts';
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
  /** The place of that point, if it was looked up. */
  readonly place?: Place;
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

/** The projections that have their own screens: contexts and summaries are shown elsewhere. */
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

/**
 * Reads the values of some projections at a place, from one reading of its history; leaves out those of which nothing was
 * ever known, if such are not wanted.
 */
export async function knownSections(
  session: Session,
  named: readonly NamedProjection[],
  reading: KnownReading,
  { skipsEmpty = false }: { readonly skipsEmpty?: boolean } = {},
): Promise<KnownSection[]> {
  const { edits = [], since, eyes } = reading;
  const engine = engineOf(session);
  const place = reading.place ?? (await findPlace(engine, session.id, { branch: reading.branch, seq: reading.seq }));
  const sight = sightAt(engine, place);
  const edited = edits.length === 0 ? sight : sightBeside(sight, await editedBy(engine, place, edits));
  const chosen = since === undefined ? undefined : await findPlace(engine, session.id, since);
  const now = await valuesAt(edited, named, eyes);
  const earlier = edits.length > 0 ? sight : sightBeside(sight, { ...place, seq: previous(place.seq) });
  const before = place.seq === 0 && edits.length === 0 ? now : await valuesAt(earlier, named, eyes);
  const then = chosen === undefined ? undefined : await valuesAt(sightBeside(sight, chosen), named, eyes);
  return named.flatMap((held, index): KnownSection[] => {
    const { name: projection, about } = held;
    const [value = null, was = null] = [now[index], before[index]];
    if (skipsEmpty && isEmpty(held, value, eyes) && isEmpty(held, was, eyes)) return [];
    const diff = then === undefined ? undefined : diffValues(then[index] ?? null, value);
    const compared = chosen === undefined || diff === undefined ? null : { ref: refOf(chosen), diff };
    return [{ projection, about, value, changedHere: diffValues(was, value), since: compared }];
  });
}

async function editedBy(engine: Engine, place: Place, edits: readonly Edit[]): Promise<Hypothesis> {
  return (await hypothesisFor(engine, place, { edits })).hypothesis;
}

/** Reads the values of some projections, in their order, as JSON. */
async function valuesAt(
  sight: Sight,
  named: readonly NamedProjection[],
  eyes: string | undefined,
): Promise<readonly JsonValue[]> {
  const held = await folds(sight, Object.fromEntries(named.map(({ projection }, index) => [`${index}`, projection])));
  return named.map((one, index) => seenBy(one, held[`${index}`] as JsonValue, eyes));
}

function isEmpty(named: NamedProjection, value: JsonValue, eyes: string | undefined): boolean {
  return canonicalJson(value) === canonicalJson(seenBy(named, project(named.projection, []) as JsonValue, eyes));
}

/** Returns the values of one agent, of state, which has them by agent. */
function seenBy({ name }: NamedProjection, value: JsonValue, eyes: string | undefined): JsonValue {
  if (eyes === undefined || name !== 'state' || !isObject(value)) return value;
  return given({ [eyes]: value[eyes] }) as JsonValue;
}

const refOf = (place: Place): string =>
  refText({ session: place.session, branch: pointOf(place).branch, at: { kind: 'seq', seq: place.seq } });
