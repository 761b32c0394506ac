import { RepriseError } from '../../core/error.ts';
import { shownValue } from '../../core/known-keys.ts';
import { seq } from '../../core/point.ts';
import { propertyOf } from '../../core/property.ts';
import { type At, type PointInput, parsePoint, pointText, type Ref, refOf, refText } from '../../core/ref.ts';
import type { Engine } from '../context/engine.ts';
import { type Place, placeAt, pointOf, refOfPlace } from './place.ts';

/** A place, and the story time that was asked for there; without it, the place has all turns. */
export interface Told {
  readonly place: Place;
  readonly story?: number;
}

/** The session of a handle: its id, or a way to find it, such as the one last appended to. */
export type SessionName = string | (() => Promise<string>);

/** How a handle names its place: the branch and the place on it. */
export interface Named {
  readonly session: SessionName;
  readonly branch: string;
  readonly at: At;
  /** The branch that must have stored the event of the place: it was named by an event. */
  readonly storedOn?: string;
}

/** Reads a point of a session. An event of a different session is refused: its seq means a different event here. */
export function placeInSession(session: SessionName, input: PointInput): Named {
  const point = parsePoint(input);
  const stored = typeof input === 'object' ? propertyOf(input, 'session') : undefined;
  if (stored === undefined || typeof session !== 'string' || stored === session) return { session, ...point };
  throw new RepriseError(
    'ref.invalid',
    `Cannot use an event of session ${shownValue(stored)} in session ${JSON.stringify(session)}`,
    {
      hint: 'Name a seq of this session, or begin with the session of the event.',
      details: { session, stored: shownValue(stored) },
    },
  );
}

/** Reads a place on a branch: a seq, `{ turn: 3 }`, `@12`, or an event that leads to the head of the branch. */
export function placeOnBranch(session: SessionName, branch: string, input: PointInput | number): Named {
  if (typeof input === 'number') return { session, branch, at: { kind: 'seq', seq: seq(input) } };
  const { branch: named, at } = placeInSession(session, input);
  const isUnnamed = typeof input === 'string' ? input.startsWith('@') : input.branch === undefined;
  if (isUnnamed || named === branch) return { session, branch, at };
  // A branch has the events that it inherited, and those are stored on the branch that they come from.
  if (at.kind === 'seq' && typeof input === 'object') return { session, branch, at, storedOn: named };
  throw new RepriseError('ref.invalid', `Cannot use ${shownValue(input)} on "${branch}": it names branch "${named}"`, {
    hint: `Leave the branch out, or begin with session.branch(${JSON.stringify(named)}).`,
    details: { branch, named },
  });
}

/**
 * Where a handle is. A fixed one finds its place at its first verb and keeps it, whatever is appended later. One that
 * follows the head finds it anew each time.
 */
export class Where {
  readonly engine: Engine;
  /** The branch as it was named. */
  readonly branch: string;
  /** The place on the branch as it was named. */
  readonly at: At;
  readonly isFixed: boolean;
  /** The session as it was named. */
  readonly named: SessionName;
  readonly #storedOn: string | undefined;
  #session: Promise<string> | undefined;
  #place: Promise<Place> | undefined;

  static {
    // A program that prints a handle gets its name. It is defined here, since a computed name has no declared type.
    Object.defineProperty(Where.prototype, Symbol.for('nodejs.util.inspect.custom'), {
      value(this: Where): string {
        return this.toJSON();
      },
    });
  }

  private constructor(engine: Engine, { session, branch, at, storedOn }: Named, isFixed: boolean) {
    this.engine = engine;
    this.branch = branch;
    this.at = at;
    this.isFixed = isFixed;
    this.named = session;
    this.#storedOn = storedOn;
  }

  /** Returns one point, which is found once. */
  static at(engine: Engine, named: Named): Where {
    return new Where(engine, named, true);
  }

  /** Returns the point of a ref, which is found once; the session that is `latest` then. */
  static ofRef(engine: Engine, ref: string | Ref): Where {
    const { session, branch, at } = refOf(ref);
    return Where.at(engine, { session: session === 'latest' ? () => latestSession(engine) : session, branch, at });
  }

  /** Returns the head of a branch, found anew at each verb. */
  static onHead(engine: Engine, session: SessionName, branch: string): Where {
    return new Where(engine, { session, branch, at: { kind: 'head' } }, false);
  }

  /** Returns a place that was found. */
  static found(engine: Engine, place: Place): Where {
    const { session, record, seq } = place;
    const where = new Where(engine, { session, branch: record.branch, at: { kind: 'seq', seq } }, true);
    where.#place = Promise.resolve(place);
    return where;
  }

  /** Whether it was named by an event of a different branch, which may not lead here: the place must be found first. */
  get isForeign(): boolean {
    return this.#storedOn !== undefined;
  }

  /** Finds the session. */
  session(): Promise<string> {
    const { named } = this;
    if (typeof named === 'string') return Promise.resolve(named);
    this.#session ??= forgetting(named(), () => {
      this.#session = undefined;
    });
    return this.#session;
  }

  /** Finds the place of a verb. A place in story time is refused: it is not a prefix of the history. */
  async place(verb: string): Promise<Place> {
    if (this.at.kind === 'story') refuseStory(this, verb);
    return (await this.told()).place;
  }

  /** Finds the place of a verb that understands story time. */
  async told(): Promise<Told> {
    const { at } = this;
    if (at.kind !== 'story') return { place: await this.#found(at) };
    return { place: await this.#found(at.told ?? { kind: 'head' }), story: at.story };
  }

  /** Finds the event of a verb that takes one out. The head of a branch is refused: it is a different event soon. */
  async event(verb: string): Promise<Place> {
    if (this.at.kind !== 'head') return this.place(verb);
    throw new RepriseError('ref.invalid', `Cannot ${verb} at "${this.branch}": it names no event`, {
      hint: `Name the event, for example "${pointText({ branch: this.branch, at: { kind: 'seq', seq: seq(12) } })}".`,
      details: { branch: this.branch },
    });
  }

  /** Finds the place of a verb, as a ref that names its seq. */
  async ref(verb: string): Promise<Ref> {
    return refOfPlace(await this.place(verb));
  }

  /** Returns the place as it was named, for a verb that works on what cannot be found, too; where it was found, its seq. */
  async asNamed(verb: string): Promise<Ref> {
    if (this.at.kind === 'story') refuseStory(this, verb);
    if (this.#place !== undefined || this.isForeign) return this.ref(verb);
    return { session: await this.session(), branch: this.branch, at: this.at };
  }

  /** Returns the ref of the place as it was named. */
  async name(): Promise<string> {
    return refText({ session: await this.session(), branch: this.branch, at: this.at });
  }

  /** Returns its name, as JSON and in what a program prints: neither shows the store that it is in. */
  toJSON(): string {
    const { at, branch, named } = this;
    const session = typeof named === 'string' ? named : 'latest';
    return at.kind === 'story' ? `${refText({ session, branch })}@story:${at.story}` : refText({ session, branch, at });
  }

  #found(at: At): Promise<Place> {
    if (!this.isFixed) return this.#find(at);
    this.#place ??= forgetting(this.#find(at), () => {
      this.#place = undefined;
    });
    return this.#place;
  }

  async #find(at: At): Promise<Place> {
    const place = await placeAt(this.engine, await this.session(), this.branch, at);
    if (this.#storedOn !== undefined) checkStoredOn(place, this.#storedOn);
    return place;
  }
}

/** Finds the session that was last appended to. */
export async function latestSession({ store, namespace }: Engine): Promise<string> {
  const { sessions } = await store.sessions({ namespace, limit: 1 });
  const found = sessions[0];
  if (found !== undefined) return found.session;
  throw new RepriseError('session.not-found', `Cannot find the latest session: namespace "${namespace}" has none`, {
    hint: 'Record a session first.',
  });
}

/** Returns a promise that is forgotten if it fails: a store that was busy may answer the next time. */
function forgetting<Value>(found: Promise<Value>, forget: () => void): Promise<Value> {
  found.catch(forget);
  return found;
}

/** Refuses a place that was named by an event of a different history: its seq means a different event here. */
function checkStoredOn(place: Place, storedOn: string): void {
  const { branch, seq: found } = pointOf(place);
  if (branch === storedOn) return;
  throw new RepriseError(
    'ref.invalid',
    `Cannot use ${storedOn}@${found} on "${place.record.branch}": that event does not lead to it`,
    {
      hint: `Here, seq ${found} is ${branch}@${found}. Name a seq of this branch.`,
      details: { branch: place.record.branch, storedOn, seq: found },
    },
  );
}

function refuseStory({ branch, at }: Where, verb: string): never {
  const named = at.kind === 'story' ? `story:${at.story} of "${branch}"` : pointText({ branch, at });
  throw new RepriseError(
    'ref.invalid',
    `Cannot ${verb} at ${named}: a place in story time has beliefs, a fleet and forks only`,
    {
      hint: 'Use turn:N for the end of a turn, or fork there and use the branch.',
      details: { branch, verb },
    },
  );
}
