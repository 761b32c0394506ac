import type { Event } from '../../core/event/event.ts';
import { refsIn } from '../../core/parts/decode.ts';
import { dataDigestOf } from '../../core/parts/digest.ts';
import { sealedAt } from '../../core/parts/marker-words.ts';
import type { Digest, Seq } from '../../core/point.ts';
import type { Platform, StoredEvent } from '../../core/store/event-store.ts';
import { segmentAt, segmentOver } from '../../core/view/segment.ts';
import { type Engine, emptyMemory, sessionRef } from '../context/engine.ts';
import { pointKey } from '../copying/copy-erasures.ts';
import { carryOut } from '../erasing/erase.ts';
import { type Content, contentOf } from '../erasing/erase-content.ts';
import { type ErasePlan, keysLeft, planErase } from '../erasing/erase-plan.ts';
import { heldReceipts } from '../history/held-receipts.ts';
import { pages, readEvents } from '../history/stored-events.ts';
import { sessionMasking } from '../recording/session-masking.ts';
import type { BundleManifest, BundleRedaction } from './bundle-manifest.ts';
import { type BundleScope, scopeOf } from './bundle-scope.ts';
import { historyItems } from './history-items.ts';
import { HistoryLoader } from './history-loader.ts';
import { carriedPath, parseRedactRules, piecesOf, type RedactRules } from './redact-rules.ts';

/** A copy of a history in a separate store, with payloads taken out. */
export interface RedactedCopy {
  readonly engine: Engine;
  readonly scope: BundleScope;
  readonly redacted: BundleRedaction;
}

/**
 * Copies a history without the payloads that the rules take out, and appends the erasures that account for them. The
 * source stays as it is. The same history and rules give the same copy: ids, salts and times of the new events are made
 * from the history.
 */
export async function redactedCopy(
  engine: Engine,
  scope: BundleScope,
  rules: readonly string[],
): Promise<RedactedCopy> {
  const { session } = scope.record;
  const { mask } = await sessionMasking(engine, session);
  const parsed = parseRedactRules(rules, mask);
  const taken = await takenBy(engine, scope, parsed);
  const platform = fixedPlatform(
    engine.platform,
    JSON.stringify([scope.record.genesis, taken.digest, rules]),
    taken.time,
  );
  const store = await engine.bundles.openScratch(platform);
  const scratch: Engine = { ...engine, store, platform, namespace: 'default', ...emptyMemory() };
  try {
    await load(engine, scope, scratch, taken.seqs);
    const found = await planErase(scratch, session, taken.content, () => false);
    const plan = withTaken(found, taken);
    const heads = (await store.branches(sessionRef(scratch, session))).map(({ branch, head, digest }) => ({
      branch,
      seq: head,
      digest,
    }));
    const { erasures } = scope.record;
    if (plan.branches.length > 0) await carryOut(scratch, session, plan, erasures, { reason: 'taken out of a bundle' });
    const redacted = { ...redactionOf(plan, parsed, heads), receipts: await receiptCount(engine, session) };
    const whole = await scopeOf(scratch, { session, branch: scope.record.root, at: { kind: 'head' } }, true);
    return { engine: scratch, scope: { ...whole, of: scope.of }, redacted };
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** A marker with pieces that go, and the parts that contain them. */
interface SealedContent {
  readonly branch: string;
  readonly seq: Seq;
  readonly parts: readonly Digest[];
  /** Whether the event that the marker carries goes. */
  readonly isCarrier: boolean;
}

interface Taken {
  readonly events: ErasePlan['events'];
  readonly sealed: readonly SealedContent[];
  /** The same events, by branch. */
  readonly seqs: ReadonlyMap<string, ReadonlySet<Seq>>;
  readonly content: Content;
  /** The latest time of the history. */
  readonly time: string;
  /** The digests of all heads together. */
  readonly digest: string;
}

/** Finds the events whose payload goes, and their content, which must not be left elsewhere. */
async function takenBy(engine: Engine, scope: BundleScope, rules: RedactRules): Promise<Taken> {
  const { session } = scope.record;
  const long = new Set<string>(rules.texts);
  const short = new Set<string>();
  const found: Event[] = [];
  const sealed: SealedPiece[] = [];
  let [time, digest] = ['', ''];
  for (const { branch, after, through } of scope.branches) {
    let last = '';
    for await (const { events } of readEvents(engine, session, [segmentOver({ branch, after, through })]))
      for (const event of events) {
        last = event.digest;
        if (event.time > time) time = event.time;
        for (const piece of piecesOf(event)) {
          const taking = rules.takes(piece.event);
          if (taking === undefined) continue;
          if (piece.path === undefined) found.push(event);
          else sealed.push({ marker: event, path: piece.path });
          if (taking === 'payload') continue;
          const content = await contentOf(engine, session, piece.event);
          for (const text of content.long) long.add(text);
          for (const text of content.short) short.add(text);
        }
      }
    digest += `${last}\n`;
  }
  const content = { long: [...long], short };
  const seqs = new Map<string, Set<Seq>>();
  for (const { branch, seq } of found) seqs.set(branch, (seqs.get(branch) ?? new Set()).add(seq));
  const events = await erasedRows(engine, scope, seqs, content);
  return { events, sealed: await sealedIn(engine, session, sealed), seqs, content, time, digest };
}

/** A piece that goes, by the marker that seals it. */
interface SealedPiece {
  readonly marker: Event;
  readonly path: readonly string[];
}

/** Finds the parts that contain pieces of markers. With the event that a marker carries, the words about it go too. */
async function sealedIn(engine: Engine, session: string, pieces: readonly SealedPiece[]): Promise<SealedContent[]> {
  const found: SealedContent[] = [];
  const byMarker = Map.groupBy(pieces, ({ marker }) => pointKey(marker.branch, marker.seq));
  const segments = [...new Set(pieces.map(({ marker }) => marker))].map(segmentAt);
  for await (const rows of pages(engine, session, segments, { select: 'full' }))
    for (const { branch, seq, data } of rows) {
      const skeleton = data ?? '{}';
      const own = byMarker.get(pointKey(branch, seq)) ?? [];
      const isCarrier = own.some(({ path }) => path === carriedPath);
      const parts = isCarrier ? refsIn(skeleton) : own.flatMap(({ path }) => sealedAt(skeleton, path) ?? []);
      found.push({ branch, seq, parts, isCarrier });
    }
  return found;
}

async function erasedRows(
  engine: Engine,
  { record: { session }, branches }: BundleScope,
  seqs: ReadonlyMap<string, ReadonlySet<Seq>>,
  content: Content,
): Promise<ErasePlan['events']> {
  const rows: ErasePlan['events'][number][] = [];
  for (const { branch, after, through } of branches) {
    const own = seqs.get(branch);
    if (own === undefined) continue;
    for await (const page of pages(engine, session, [segmentOver({ branch, after, through })], { select: 'proof' }))
      for (const row of page) if (own.has(row.seq)) rows.push(await erasedRow(engine, session, row, content));
  }
  return rows;
}

async function erasedRow(
  engine: Engine,
  session: string,
  row: StoredEvent,
  content: Content,
): Promise<ErasePlan['events'][number]> {
  const { branch, seq, salt, data } = row;
  const keys = await keysLeft(engine, session, row, content);
  return { branch, seq, dataDigest: dataDigestOf(engine.platform.sha256, salt ?? '', data ?? ''), keys };
}

/** Copies a history into a scratch store without the redacted payloads: neither they nor their parts arrive there. */
async function load(
  engine: Engine,
  scope: BundleScope,
  scratch: Engine,
  seqs: ReadonlyMap<string, ReadonlySet<Seq>>,
): Promise<void> {
  const { session: id, seed, genesis, root, createdAt, erasures } = scope.record;
  const facts: BundleManifest['session'] = { id, seed, genesis, root, createdAt, erasures };
  const loader = new HistoryLoader(scratch, facts);
  await loader.begin();
  const isTaken = (row: StoredEvent): boolean => seqs.get(row.branch)?.has(row.seq) === true;
  const { sha256 } = engine.platform;
  for await (const item of historyItems(engine, scope, isTaken)) {
    if (!('event' in item) || !item.isTaken) await loader.add(item);
    else {
      const { data, salt } = item.event;
      const dataDigest = dataDigestOf(sha256, salt ?? '', data ?? '');
      await loader.add({ event: { ...item.event, data: null, salt: null, dataDigest, erased: true, keys: [] } });
    }
  }
  await loader.finish();
}

/** Adds the events that the rules took out to the plan for what was left of their content. */
function withTaken(plan: ErasePlan, { events, sealed }: Pick<Taken, 'events' | 'sealed'>): ErasePlan {
  const branches = [...new Set([...[...events, ...sealed].map(({ branch }) => branch), ...plan.branches])];
  const isNew = ({ branch, seq, isCarrier }: SealedContent): boolean =>
    isCarrier && !plan.carriers.some((held) => held.branch === branch && held.seq === seq);
  const carriers = sealed.filter(isNew).map(({ branch, seq }) => ({ branch, seq, keys: [] }));
  const gone = [...new Set([...plan.gone, ...sealed.flatMap(({ parts }) => parts)])];
  const rewrites = plan.rewrites.filter(({ digest }) => !gone.includes(digest));
  return { events: [...events, ...plan.events], carriers: [...plan.carriers, ...carriers], gone, rewrites, branches };
}

function redactionOf(
  { events, gone, rewrites }: ErasePlan,
  { said }: RedactRules,
  heads: BundleRedaction['heads'],
): Omit<BundleRedaction, 'receipts'> {
  const seqs = new Map<string, Seq[]>();
  for (const { branch, seq } of events) seqs.set(branch, [...(seqs.get(branch) ?? []), seq]);
  return {
    rules: said,
    heads,
    events: [...seqs].map(([branch, own]) => ({ branch, seqs: own.sort((a, b) => a - b) })),
    parts: gone.length + rewrites.filter(({ damaged }) => damaged).length,
  };
}

async function receiptCount(engine: Engine, session: string): Promise<number> {
  let count = 0;
  for await (const _ of heldReceipts(engine.store, sessionRef(engine, session))) count++;
  return count;
}

/** Returns a platform whose ids and salts follow from a string, and whose clock never moves. */
function fixedPlatform(platform: Platform, from: string, time: string): Platform {
  let count = 0;
  const next = (): string => platform.sha256(`${from}\n${count++}`);
  return {
    ...platform,
    now: () => (time === '' ? platform.now() : time),
    newId: () => `redaction-${next().slice(0, 32)}`,
    newSalt: () => next().slice(0, 22),
  };
}
