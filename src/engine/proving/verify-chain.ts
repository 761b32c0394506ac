import { isStructural } from '../../core/event/families/structural.ts';
import { type JsonObject, numberAt, stringAt } from '../../core/json.ts';
import { dataDigestOf } from '../../core/parts/digest.ts';
import { previous as before, beginning, type Digest, later, type Point, type Seq } from '../../core/point.ts';
import type { StoredEvent } from '../../core/store/event-store.ts';
import { type Marker, markerOf } from '../../core/view/marker.ts';
import { type Engine, sessionRef } from '../context/engine.ts';
import { linkDigest } from '../history/anchor.ts';
import { Bad } from './verify-damage.ts';
import type { Debt, Erasures } from './verify-erasures.ts';
import { PartCheck } from './verify-parts.ts';
import { proofPages, type Stretch } from './verify-stretch.ts';

/** Returns true if a point of a different branch leads to the events that are being checked. */
export type Leads = (point: Point) => boolean;

/** Checks a chain event by event, and remembers how far it is. */
export class ChainCheck {
  digest: Digest = '' as Digest;
  seq: Seq = beginning;
  /** Whether a point had the digest that the caller contains. */
  hasHeld = false;
  /** The markers of the chain. */
  readonly markers: Marker[] = [];
  /** Missing payloads and parts, with the erasures that would account for them. */
  readonly debts: Debt[] = [];
  readonly #engine: Engine;
  readonly #session: string;
  readonly #erasures: Erasures;
  readonly #held: string | undefined;
  readonly #parts: PartCheck;
  readonly #onLink: ((row: StoredEvent) => void) | undefined;

  /** `held` is the digest that the caller has; `onLink` is called with each good event. */
  constructor(
    engine: Engine,
    session: string,
    erasures: Erasures,
    { held, onLink }: { readonly held?: string | undefined; readonly onLink?: (row: StoredEvent) => void } = {},
  ) {
    this.#engine = engine;
    this.#session = session;
    this.#erasures = erasures;
    this.#held = held;
    this.#onLink = onLink;
    this.#parts = new PartCheck(engine, session, erasures, this.debts);
  }

  begin(genesis: Digest): void {
    this.digest = genesis;
    this.hasHeld = genesis === this.#held;
  }

  /** Continues at a point that is known to be good, with the markers of what follows it. */
  continueAt(seq: Seq, digest: Digest): void {
    this.seq = seq;
    this.digest = digest;
    this.markers.length = 0;
  }

  /** Checks one stretch; `leads` says whether a point leads to its end. */
  async stretch(stretch: Stretch, leads: Leads): Promise<void> {
    const { branch, after, through, isFork } = stretch;
    for await (const rows of proofPages(this.#engine, this.#session, stretch))
      await this.#page(rows, isFork ? later(after, 1) : beginning, leads);
    if (this.seq !== through) throw new Bad(later(this.seq, 1), `seq ${this.seq + 1} of "${branch}" is missing`);
  }

  /** Checks a page in three ways and throws the earliest damage. */
  async #page(rows: readonly StoredEvent[], forkedAt: Seq, leads: Leads): Promise<void> {
    const found: Bad[] = [];
    const look = async (check: () => void | Promise<void>): Promise<void> => {
      try {
        await check();
      } catch (error) {
        if (!(error instanceof Bad)) throw error;
        found.push(error);
      }
    };
    await look(() => {
      for (const row of rows) this.#event(row, row.seq === forkedAt);
    });
    const good = rows.filter((row) => row.seq <= this.seq);
    await look(() => this.#checkCauses(good, leads));
    await look(() => this.#parts.check(good));
    const [first] = found.sort((a, b) => a.seq - b.seq);
    if (first !== undefined) throw first;
  }

  #event(row: StoredEvent, isFirst: boolean): void {
    const { branch, type } = row;
    const seq = later(this.seq, 1);
    if (row.seq !== seq) throw new Bad(seq, `seq ${seq} of "${branch}" is missing`);
    const previous = this.digest;
    if (linkDigest(this.#engine, previous, row, this.#dataDigest(row)) !== row.digest)
      throw new Bad(seq, `seq ${seq} ("${type}") is not what was recorded`);
    if (isFirst !== (type === 'branch.forked'))
      throw new Bad(seq, `"branch.forked" must be the first event of a branch, and nothing else`);
    if (isStructural(type)) this.#marker(row, previous);
    if (row.digest === this.#held) this.hasHeld = true;
    this.digest = row.digest;
    this.seq = seq;
    this.#onLink?.(row);
  }

  #dataDigest(row: StoredEvent): Digest {
    const { branch, seq } = row;
    if (row.data !== null && row.salt !== null && row.salt !== undefined) {
      if (row.erased) throw new Bad(seq, `the payload of seq ${seq} is passed off as erased`);
      return dataDigestOf(this.#engine.platform.sha256, row.salt, row.data);
    }
    const markers = this.#erasures.events.get(`${branch}@${seq}`);
    if (markers === undefined || row.dataDigest === null || row.dataDigest === undefined)
      throw new Bad(seq, `the payload of seq ${seq} is missing, and no erasure accounts for it`);
    this.debts.push({ seq, markers });
    return row.dataDigest;
  }

  #marker(row: StoredEvent, previous: Digest): void {
    const { branch, seq, type } = row;
    const { data, marker } = markerIn(row);
    this.markers.push(marker);
    if (type !== 'branch.forked') return;
    const parent = data['parent'];
    if (stringAt(parent, 'digest') !== previous || numberAt(parent, 'seq') !== before(seq))
      throw new Bad(seq, `"${branch}" does not begin where its first event says`);
  }

  /** Checks `causeSeq`, which is derived and so not in the digest: it is where the cause is, if that leads here. */
  async #checkCauses(rows: readonly StoredEvent[], leads: Leads): Promise<void> {
    const ids = new Set(rows.flatMap((row) => row.cause ?? []));
    const places =
      ids.size === 0
        ? new Map<string, Point>()
        : await this.#engine.store.locate(sessionRef(this.#engine, this.#session), [...ids]);
    for (const row of rows) {
      const place = row.cause === null ? undefined : places.get(row.cause);
      const leadsHere = place !== undefined && (place.branch === row.branch || leads(place));
      if (row.causeSeq !== (leadsHere ? place.seq : null))
        throw new Bad(row.seq, `the cause of seq ${row.seq} does not stand where it says`);
    }
  }
}

function markerIn({ branch, seq, type, data: text }: StoredEvent): {
  readonly data: JsonObject;
  readonly marker: Marker;
} {
  try {
    const data = JSON.parse(text ?? '') as JsonObject;
    return { data, marker: markerOf({ branch, seq, type, data }) };
  } catch {
    throw new Bad(seq, `seq ${seq} ("${type}") cannot be read`);
  }
}
