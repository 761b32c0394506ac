import { hasCode, RepriseError } from '../../core/error.ts';
import type { Event } from '../../core/event/event.ts';
import { isStructural } from '../../core/event/families/structural.ts';
import { isObject } from '../../core/json.ts';
import { checkKeys, type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import { dataDigestOf } from '../../core/parts/digest.ts';
import type { Digest, Seq } from '../../core/point.ts';
import type { AppendRequest, EraseRequest } from '../../core/store/event-store.ts';
import { ownSegment } from '../../core/view/segment.ts';
import { type Marked, type MarkOptions, markOptionNames, signed } from '../changing/mark.ts';
import { encodeRequest } from '../changing/write.ts';
import { type Engine, sessionRef } from '../context/engine.ts';
import { type Place, pointOf, sessionIds, sessionRecord } from '../history/place.ts';
import { stamp } from '../history/stamp.ts';
import { readHeaders, readPoints } from '../history/stored-events.ts';
import { type Content, contentOf, valueHoldsContent } from './erase-content.ts';
import { type ErasePlan, goesWith, planErase } from './erase-plan.ts';

/** How to erase. */
export interface EraseOptions extends MarkOptions {
  /** Erases in every session of the namespace, not only in this one. */
  readonly everywhere?: boolean;
  /** Erases nothing: only lists the events and parts that would go. */
  readonly dryRun?: boolean;
  /**
   * Refuses while a run of the session has not ended: an agent that still has the content would send it with its next
   * call, and the recorder would store it again.
   */
  readonly onlyIdle?: boolean;
}

const eraseKeys: KnownKeys = optionKeys<EraseOptions>(
  'erase',
  { ...markOptionNames, everywhere: 'flag', onlyIdle: 'flag' },
  'an erasure',
);

/** The erased events and parts; with `dryRun`, those that would be. */
export interface Erased extends Omit<Marked, 'marker'> {
  /** The `payload.erased` event on the branch that stores the target; null with `dryRun`. */
  readonly marker: Event | null;
  /** Events whose payload is gone. */
  readonly events: readonly { readonly session: string; readonly branch: string; readonly seq: Seq }[];
  /** Parts that are gone, or have a hole in place of the content. */
  readonly parts: readonly { readonly session: string; readonly digest: Digest }[];
  /** Every `payload.erased` event: one on each branch that stores an affected event. */
  readonly markers: readonly { readonly session: string; readonly branch: string; readonly seq: Seq }[];
  /** The places that the store could not overwrite yet, in words; it keeps trying. */
  readonly remains: readonly string[];
}

/**
 * Erases the payload of the event at a point, and the same content wherever else the session has it. The chain still
 * verifies, and no one can guess the content from the rest. This cannot be undone.
 */
export async function erase(engine: Engine, place: Place, options: EraseOptions = {}): Promise<Erased> {
  checkKeys(options, eraseKeys);
  const { session } = place;
  const target = await targetOf(engine, place);
  const content = await contentOf(engine, session, target);
  refuseQuote(content, options.reason);
  const sessions = options.everywhere === true ? await sessionIds(engine) : [session];
  const result: {
    events: Erased['events'][number][];
    parts: Erased['parts'][number][];
    markers: Erased['markers'][number][];
  } = { events: [], parts: [], markers: [] };
  const remains = new Set<string>();
  if (options.onlyIdle === true) for (const held of sessions) await refuseRunning(engine, held);
  for (const held of sessions) {
    for await (const { plan, markers, remains: left } of passes(
      engine,
      held,
      content,
      held === session ? target : undefined,
      options,
    )) {
      const parts = [...plan.gone, ...plan.rewrites.filter((part) => part.damaged).map((part) => part.digest)];
      result.events.push(...plan.events.map(({ branch, seq }) => ({ session: held, branch, seq })));
      result.parts.push(...parts.map((digest) => ({ session: held, digest })));
      result.markers.push(...markers);
      for (const place of left) remains.add(place);
    }
  }
  const marker = await markerOf(engine, session, target, result.markers);
  return { ...result, marker, remains: [...remains], undone: [], restored: [] };
}

// The next pass finds content that was appended in the meantime; a recorder that keeps adding it wins after the last.
const passesMax = 5;

/** One round of an erasure. */
interface Pass extends Pick<Erased, 'markers' | 'remains'> {
  readonly plan: ErasePlan;
}

/** Plans and erases until no event or part contains the content any more. */
async function* passes(
  engine: Engine,
  session: string,
  content: Content,
  target: Event | undefined,
  options: EraseOptions,
): AsyncGenerator<Pass> {
  for (let pass = 1; pass <= passesMax; pass++) {
    const { erasures } = await sessionRecord(engine, session);
    const plan = await planErase(engine, session, content, goesWith(target));
    if (plan.events.length === 0 && plan.gone.length === 0 && plan.rewrites.length === 0) return;
    if (options.dryRun === true) {
      yield { plan, markers: [], remains: [] };
      return;
    }
    try {
      yield { plan, ...(await carryOut(engine, session, plan, erasures, options)) };
    } catch (error) {
      if (!hasCode(error, 'append.conflict') || pass === passesMax) throw error;
    }
  }
}

async function markerOf(
  engine: Engine,
  session: string,
  target: Event,
  markers: Erased['markers'],
): Promise<Event | null> {
  const own = markers.find((held) => held.session === session && held.branch === target.branch);
  const [marker] = own === undefined ? [] : await readPoints(engine, session, [own]);
  return marker ?? null;
}

async function targetOf(engine: Engine, place: Place): Promise<Event> {
  const { session } = place;
  const [event] = place.seq === 0 ? [] : await readPoints(engine, session, [pointOf(place)]);
  if (event === undefined)
    throw new RepriseError(
      'event.not-found',
      `Cannot erase at "${place.record.branch}@${place.seq}": there is no event`,
      { hint: 'Choose a seq from 1.' },
    );
  if (isStructural(event.type)) {
    throw new RepriseError(
      'event.structural',
      `Cannot erase "${event.type}" at seq ${event.seq}: a structural event decides how history is read`,
      { hint: structuralHint(event), details: { seq: event.seq, type: event.type } },
    );
  }
  if (event.erased === true)
    throw new RepriseError(
      'event.erased',
      `Cannot erase seq ${event.seq} of "${event.branch}": its payload was erased before`,
      { hint: 'There is nothing left to do.', details: { branch: event.branch, seq: event.seq } },
    );
  return event;
}

/** Refuses a reason that quotes the content: the marker would store it again. */
function refuseQuote(content: Content, reason: string | undefined): void {
  if (reason === undefined || !valueHoldsContent(content, reason)) return;
  throw new RepriseError('edit.invalid', 'Cannot erase: the reason quotes the content to erase', {
    hint: 'Give a reason that does not quote it.',
  });
}

/** Explains how to erase content that only a marker carries. */
function structuralHint({ type, data }: Event): string {
  return isObject(data['event']) || isObject(data['metadata']) || data['reason'] !== undefined
    ? 'To erase what it carries, append an ordinary event with the same content and erase that one: the same content goes wherever the session has it.'
    : `Erase the event it is about; "${type}" itself is never erased.`;
}

/** Carries out a plan: the payloads go, and a marker on each branch says so. */
export async function carryOut(
  engine: Engine,
  session: string,
  plan: ErasePlan,
  erasures: number,
  options: MarkOptions,
): Promise<Pick<Erased, 'markers' | 'remains'>> {
  const holed = plan.rewrites.filter((part) => part.damaged);
  const parts = [...plan.gone, ...holed.map((part) => part.digest)];
  const holes = Object.fromEntries(
    holed.map(({ digest, salt, text }) => [digest, dataDigestOf(engine.platform.sha256, salt ?? '', text)]),
  );
  const appends = plan.branches.map((branch): AppendRequest => {
    const own = plan.events.filter((event) => event.branch === branch);
    const carriers = plan.carriers.filter((marker) => marker.branch === branch);
    // A carrier is named even without keys: its content is gone, so nothing may be derived from the rest.
    const keys = Object.fromEntries(
      [...own.filter((event) => event.keys.length > 0), ...carriers].map(({ seq, keys: left }) => [String(seq), left]),
    );
    const data = {
      seqs: own.map((event) => event.seq),
      parts,
      ...(holed.length === 0 ? {} : { holes }),
      ...(Object.keys(keys).length === 0 ? {} : { keys }),
    };
    return encodeRequest(engine, {
      session,
      target: { kind: 'branch', branch },
      drafts: [stamp(engine, signed({ type: 'payload.erased', data }, options), engine.platform.now())],
      condition: { kind: 'any' },
    }).append;
  });
  const request: EraseRequest = {
    ...sessionRef(engine, session),
    events: plan.events,
    parts: plan.gone,
    rewrites: plan.rewrites,
    appends,
    erasures,
  };
  const { appends: outcomes, remains } = await engine.store.erase(request);
  // The parts that this process remembers may be gone now.
  engine.memories.delete(session);
  const markers = outcomes.flatMap((outcome) => {
    if (!outcome.ok) throw outcome.error;
    return outcome.events.map(({ seq }) => ({ session, branch: outcome.branch, seq }));
  });
  return { markers, remains };
}

/**
 * Refuses to erase in a session in which a run has not ended on any branch. It reads raw history: an agent whose branch
 * was rewound still runs, and a run that a fork cut in two ended on the branch that it was recorded on.
 */
async function refuseRunning(engine: Engine, session: string): Promise<void> {
  const open = new Map<string, string>();
  const ended = new Set<string>();
  for (const branch of await engine.store.branches(sessionRef(engine, session)))
    for await (const rows of readHeaders(engine, session, [ownSegment(branch)]))
      for (const { type, run } of rows) {
        if (type === 'run.started' && run !== null) open.set(run, branch.branch);
        if (type === 'run.ended' && run !== null) ended.add(run);
      }
  for (const [run, branch] of open) {
    if (ended.has(run)) continue;
    throw new RepriseError(
      'erase.running',
      `Cannot erase in session "${session}": run "${run}" on "${branch}" has not ended, and its agent may still hold the content`,
      {
        hint: 'Stop the agent and try again. If it died, its run never ends: erase without "onlyIdle".',
        details: { session, branch, run },
      },
    );
  }
}
