import type { MessageInitShape } from '@bufbuild/protobuf';
import type { HandlerContext, ServiceImpl } from '@connectrpc/connect';
import { BoundedMap } from '../../core/bounded-map.ts';
import { RepriseError } from '../../core/error.ts';
import type { EventFilter } from '../../core/event/filter.ts';
import { given, type JsonValue, objectAt, stringAt } from '../../core/json.ts';
import { checkLimit, limits } from '../../core/limits.ts';
import type { Seq } from '../../core/point.ts';
import type { EffectPolicy } from '../../core/recording/effects.ts';
import { parsePoint } from '../../core/ref.ts';
import type { SessionRecord } from '../../core/store/event-store.ts';
import type { Edit } from '../../core/view/edit.ts';
import { findPlace, type Place } from '../../engine/history/place.ts';
import { engineOf, type Session } from '../../engine/session.ts';
import { experimentRowAnswer, experimentSummary } from '../../reading/answers/run-answers.ts';
import { branchPage } from '../../reading/looks/branch-rows.ts';
import { contextAt } from '../../reading/looks/call-context.ts';
import { comparedPage, compareTable, compareViews, type FoldedComparison } from '../../reading/looks/compared-views.ts';
import { type CutValue, cutValue } from '../../reading/looks/cut-value.ts';
import { changeNames, previewChange, previewEdits } from '../../reading/looks/edit-preview.ts';
import { causesOf } from '../../reading/looks/event-causes.ts';
import { type IndexPart, type IndexPiece, readIndex } from '../../reading/looks/event-index.ts';
import { searchEvents } from '../../reading/looks/event-search.ts';
import {
  knownProjections,
  knownSections,
  lookProjection,
  lookProjections,
} from '../../reading/looks/known-sections.ts';
import { type SessionFilter, sessionPage } from '../../reading/looks/session-rows.ts';
import { cutEvents, eventsAt, gistOf, textAt } from '../../reading/looks/shown-events.ts';
import { readChanges } from '../../reading/looks/value-changes.ts';
import { projectionNamed } from '../../reading/shipped-projections.ts';
import type {
  CutValueSchema,
  IndexViewSchema,
  ReadIndexResponseSchema,
  StudioService,
} from '../../wire/generated/reprise/v1/studio_pb.ts';
import { columnsToWire } from '../../wire/index-codec.ts';
import { fromWhole, toWhole } from '../../wire/whole-number.ts';
import type { VerbParts } from '../calls/verb-parts.ts';
import { jsonIn, listIn, objectIn } from '../http/json-text.ts';
import { erasureStamp } from './erasure-stamp.ts';
import { LookQueue } from './look-queue.ts';

/** The calls of the studio that only look. */
type LookCall =
  | 'readSessions'
  | 'readIndex'
  | 'readEvents'
  | 'readGists'
  | 'readText'
  | 'readContext'
  | 'readKnown'
  | 'readChanges'
  | 'readCauses'
  | 'searchEvents'
  | 'compareViews'
  | 'compareTable'
  | 'readTree'
  | 'readExperiment'
  | 'previewEdits'
  | 'previewChange';

type Looks = Pick<ServiceImpl<typeof StudioService>, LookCall>;

interface SessionName {
  readonly namespace: string;
  readonly session: string;
}

/** The parts that the looks of the studio need. */
interface LookParts extends VerbParts {
  /** Returns the id of the caller's token. */
  readonly tokenOf: (context: HandlerContext) => string;
  /** Returns what the store keeps of a session that the caller may read. */
  readonly recordOf: (context: HandlerContext, ref: SessionName) => Promise<SessionRecord | undefined>;
}

/** A session and a point of it, looked up. */
interface OpenPoint {
  readonly session: Session;
  readonly branch: string;
  readonly seq: Seq;
  readonly place: Place;
}

const text = (value: unknown): string => JSON.stringify(value ?? null);
const branchIn = (branch: string): string => (branch === '' ? 'main' : branch);
const editsIn = (edits: string): readonly Edit[] => listIn(edits, 'edits') as unknown as readonly Edit[];

/** How long one page of a search may work. */
const searchMs = 50;
/** How long one page of the changes of a value may compare, after the fold of the events before it. */
const changesMs = 1_000;
/** Comparisons whose pages are still being read. */
const comparisonsMax = 16;

/** Returns the calls of the studio that only look. The guard of the caller's store decides about rights. */
export function studioLooks(parts: LookParts): Looks {
  const open = (context: HandlerContext, { namespace, session }: SessionName): Promise<Session> =>
    parts.repriseOf(context, namespace).session(session);
  const at = async (context: HandlerContext, name: SessionName & { readonly point: string }): Promise<OpenPoint> => {
    const session = await open(context, name);
    const { branch } = parsePoint(branchIn(name.point));
    const place = await findPlace(engineOf(session), session.id, branchIn(name.point));
    return { session, branch, seq: place.seq, place };
  };
  const queue = new LookQueue();
  // These fold histories: a few of each token are worked on at once.
  const inTurn = <Calls extends object>(calls: Calls): Calls => {
    const waiting = Object.entries(calls).map(([name, look]: [string, Look]) => {
      const call: Look = (request, context) =>
        queue.inTurn(parts.tokenOf(context), context.signal, () => look(request, context));
      return [name, call];
    });
    return Object.fromEntries(waiting) as Calls;
  };
  return {
    ...listings(parts, open),
    ...events(open),
    ...inTurn(points(parts, at)),
    ...inTurn(comparisons(parts)),
    ...inTurn(previews(at)),
  };
}

type Look = (request: never, context: HandlerContext) => Promise<unknown>;
type Open = (context: HandlerContext, name: SessionName) => Promise<Session>;
type At = (context: HandlerContext, name: SessionName & { readonly point: string }) => Promise<OpenPoint>;

function listings({ repriseOf }: VerbParts, open: Open): Pick<Looks, 'readSessions' | 'readTree' | 'readExperiment'> {
  return {
    async readSessions({ namespace, filter, cursor, limit }, context) {
      const wanted = objectIn(filter, 'filter') as SessionFilter;
      const page = await sessionPage(repriseOf(context, namespace), {
        filter: wanted,
        cursor,
        ...(limit === 0 ? {} : { limit }),
      });
      return { sessions: page.rows.map(text), cursor: page.next ?? '' };
    },
    async readTree({ cursor, archived, ...name }, context) {
      const after = cursor === '' ? undefined : cursor;
      const page = await branchPage(await open(context, name), { after, archived });
      return { branches: page.branches.map(text), cursor: page.next ?? '' };
    },
    async readExperiment({ namespace, experiment, session }, context) {
      const reprise = repriseOf(context, namespace);
      if (experiment === '')
        return { answer: 'null', experiments: await experimentsOf(await reprise.session(session)) };
      const found = await reprise.findExperiment(experiment);
      const branches = found.rows.map(experimentRowAnswer);
      return { answer: shortened({ ...experimentSummary(found), branches }).json ?? '', experiments: [] };
    },
  };
}

/** Lists the experiments that a session's branches belong to, last first. */
async function experimentsOf(session: Session): Promise<string[]> {
  const ids = new Set<string>();
  const open = [await session.tree()];
  for (let node = open.pop(); node !== undefined && ids.size < limits.shownRowsMax; node = open.pop()) {
    open.push(...node.children);
    if (node.parent === null) continue;
    const id = stringAt(objectAt(await session.branch(node.branch).metadata(), 'reprise.experiment'), 'id');
    if (id !== undefined) ids.add(id);
  }
  return [...ids].reverse();
}

function events(open: Open): Pick<Looks, 'readIndex' | 'readEvents' | 'readGists' | 'readText'> {
  return {
    async *readIndex({ branch, after, around, ...name }, context) {
      const session = await open(context, name);
      const wanted = {
        branch: branchIn(branch),
        after: fromWhole(after),
        ...(around === 0n ? {} : { around: fromWhole(around) }),
      };
      for await (const part of readIndex(session, wanted)) {
        if (context.signal.aborted) return;
        yield indexPartToWire(part);
      }
    },
    async readEvents({ branch, seqs, ...name }, context) {
      const found = await eventsAt(await open(context, name), branchIn(branch), seqs.map(fromWhole));
      return { events: cutEvents(found).map(cutToWire) };
    },
    async readGists({ branch, seqs, ...name }, context) {
      const found = await eventsAt(await open(context, name), branchIn(branch), seqs.map(fromWhole));
      return { gists: found.map(gistOf) };
    },
    async readText({ branch, seq, path, offset, length, ...name }, context) {
      const [event] = await eventsAt(await open(context, name), branchIn(branch), [fromWhole(seq)]);
      if (event === undefined) throw new RepriseError('event.not-found', `Cannot read seq ${seq}`);
      const found = textAt(event, path, { offset: fromWhole(offset), length: fromWhole(length) });
      return { text: found.text.toWellFormed(), length: toWhole(found.length) };
    },
  };
}

/** Writes one part of an index. */
function indexPartToWire(part: IndexPart): MessageInitShape<typeof ReadIndexResponseSchema> {
  switch (part.kind) {
    case 'range': {
      const { after, through, digest } = part;
      return { part: { case: 'range', value: { after: toWhole(after), through: toWhole(through), digest } } };
    }
    case 'chunk':
      return { part: { case: 'chunk', value: columnsToWire(part.columns) } };
    case 'view':
      return { part: { case: 'view', value: viewToWire(part.head, part.pieces) } };
  }
}

/** Writes the pieces of a view. */
export function viewToWire(head: Seq, pieces: readonly IndexPiece[]): MessageInitShape<typeof IndexViewSchema> {
  return {
    head: toWhole(head),
    pieces: pieces.map(({ after, through, carried, replaces }) => ({
      after: toWhole(after),
      through: toWhole(through),
      carried,
      replaces: replaces.map(toWhole),
    })),
  };
}

function cutToWire({ value, cuts }: CutValue): MessageInitShape<typeof CutValueSchema> {
  return {
    json: JSON.stringify(value),
    cuts: cuts.map(({ path, shown, length, items }) => ({
      path,
      shown: toWhole(shown),
      length: toWhole(length),
      items,
    })),
  };
}

/** Cuts an answer to the size of one message, before it is written as JSON: it may have a string of many megabytes. */
function shortened(value: unknown, share = 1): MessageInitShape<typeof CutValueSchema> {
  const most = { text: limits.shownTextMax, whole: Math.floor(limits.shownBytesMax / share) };
  return cutToWire(cutValue(value as JsonValue, most));
}

function points(
  { sha256 }: VerbParts,
  at: At,
): Pick<Looks, 'readContext' | 'readKnown' | 'readChanges' | 'readCauses' | 'searchEvents'> {
  return {
    async readContext({ against, edits, offset, limit, ...name }, context) {
      const { session, ...point } = await at(context, name);
      const asked = { edits: editsIn(edits), offset, limit, ...(against === '' ? {} : { against }) };
      return { answer: shortened(await contextAt(session, { ...point, ...asked })) };
    },
    async readKnown({ projections, edits, eyes, since, ...name }, context) {
      const { session, ...point } = await at(context, name);
      checkLimit('shownRowsMax', projections.length, 'read so many projections at once');
      const isNamed = projections.length > 0;
      const seen = eyes === '' ? undefined : eyes;
      const { shown, leftOut } = knownProjections(lookProjections(sha256, seen), point.seq);
      const wanted = isNamed ? projections.map((held) => lookProjection(held, sha256, seen)) : shown;
      const asked = { edits: editsIn(edits), ...given({ eyes: seen, since: since || undefined }) };
      const known = await knownSections(session, wanted, { ...point, ...asked }, { skipsEmpty: !isNamed });
      const sections = known.map((section) => shortened(section, wanted.length));
      return { sections, leftOut: isNamed ? [] : leftOut.map((held) => held.name) };
    },
    async readChanges({ projection, path, cursor, ...name }, context) {
      const { session, ...point } = await at(context, name);
      const { projection: fold } = lookProjection(projection, sha256);
      const asked = { ...point, path, after: placeIn(cursor), isTimeUp: timeLimit(changesMs) };
      const page = await readChanges(session, fold, asked);
      return { changes: page.changes.map(text), cursor: cursorOf(page.next) };
    },
    async readCauses(name, context) {
      const { session, branch, seq } = await at(context, name);
      return { answer: text(await causesOf(session, branch, seq)) };
    },
    async searchEvents({ text: words, filter, raw, cursor, ...name }, context) {
      const { session, ...point } = await at(context, name);
      const page = await searchEvents(session, {
        ...point,
        text: words,
        filter: objectIn(filter, 'filter') as EventFilter,
        isRaw: raw,
        after: placeIn(cursor),
        isTimeUp: timeLimit(searchMs),
      });
      return { hits: page.hits.map(text), searched: toWhole(page.searched), cursor: cursorOf(page.next) };
    },
  };
}

/** Returns a function that returns true if some milliseconds have passed since it was first called. */
function timeLimit(ms: number): () => boolean {
  let end: number | undefined;
  return () => {
    const now = performance.now();
    end ??= now + ms;
    return now > end;
  };
}

const cursorOf = (place: number | undefined): string => (place === undefined ? '' : String(place));

function placeIn(cursor: string): number {
  if (cursor === '') return 0;
  if (/^\d{1,15}$/.test(cursor)) return Number(cursor);
  throw new RepriseError('option.invalid', 'Cannot continue: the cursor is not one of this call', {
    hint: 'Pass the cursor of the page before, unchanged, or none for the first page.',
  });
}

function comparisons({
  repriseOf,
  tokenOf,
  recordOf,
  sha256,
}: LookParts): Pick<Looks, 'compareViews' | 'compareTable'> {
  const held = new BoundedMap<string, Promise<FoldedComparison>>(comparisonsMax);
  const stampOf = async (context: HandlerContext, namespace: string, ref: string): Promise<string> => {
    const { session } = await repriseOf(context, namespace).resolve(ref);
    return erasureStamp(await recordOf(context, { namespace, session }));
  };
  return {
    async compareViews({ namespace, left, right, states, cursor }, context) {
      const reprise = repriseOf(context, namespace);
      const offset = placeIn(cursor);
      // Pages of one comparison are of the heads that it was begun with, however these move, until something is erased.
      const stamps = [await stampOf(context, namespace, left), await stampOf(context, namespace, right)];
      const key = JSON.stringify([tokenOf(context), namespace, left, right, states, stamps]);
      const known = offset === 0 ? undefined : held.get(key);
      const projections = states.map((name) => projectionNamed(name, sha256).projection);
      const found = known ?? compareViews(reprise, { left, right }, { states: projections });
      held.set(key, found);
      found.catch(() => held.delete(key));
      const compared = await found;
      const page = await comparedPage(compared, offset);
      const answer = offset === 0 ? shortened(compared.answer).json : '';
      return { ...given({ answer }), pairs: page.pairs.map(text), cursor: cursorOf(page.next) };
    },
    async compareTable({ namespace, refs }, context) {
      const rows = await compareTable(repriseOf(context, namespace), refs);
      return { rows: rows.map((row) => shortened(row, rows.length).json ?? '') };
    },
  };
}

function previews(at: At): Pick<Looks, 'previewEdits' | 'previewChange'> {
  return {
    async previewEdits({ edits, effects, ...name }, context) {
      const { session, ...point } = await at(context, name);
      const policy = effects === '' ? undefined : (jsonIn(effects, 'effects') as EffectPolicy);
      const asked = { edits: editsIn(edits), ...given({ effects: policy }) };
      return { answer: shortened(await previewEdits(session, { ...point, ...asked })).json ?? '' };
    },
    async previewChange({ change, options, ...name }, context) {
      const { session, ...point } = await at(context, name);
      const named = changeNames.find((held) => held === change);
      if (named === undefined)
        throw new RepriseError('option.invalid', `Cannot preview ${JSON.stringify(change.slice(0, 100))}`, {
          hint: `Use one of ${changeNames.join(', ')}.`,
        });
      return {
        answer: text(await previewChange(session, { ...point, change: named, options: objectIn(options, 'options') })),
      };
    },
  };
}
