import { RepriseError } from '../../core/error.ts';
import { eventTypes } from '../../core/event/catalogue.ts';
import type { Event } from '../../core/event/event.ts';
import { checkFilter, type EventFilter } from '../../core/event/filter.ts';
import { given } from '../../core/json.ts';
import { checkKeys, type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import type { Replay } from '../../core/session/session-log.ts';
import type { Engine } from '../context/engine.ts';
import type { Placed } from '../history/place.ts';
import { replay } from '../looking/replay.ts';

/** Which events of an audit to read. */
export interface AuditOptions {
  /** The most events to return: the newest, of which the oldest comes first. */
  readonly limit?: number;
  /** Only events after this seq. */
  readonly after?: number;
  /** Which events to return; its types choose among those of an audit. */
  readonly filter?: EventFilter;
  readonly signal?: AbortSignal;
}

/** Which events of the audit of a branch to read: those that come, too. */
export interface FollowingAudit extends AuditOptions {
  /** Waits for more events at the end. */
  readonly follow?: boolean;
}

const auditKeys: KnownKeys = optionKeys<FollowingAudit>(
  'audit',
  {
    limit: 'number',
    after: 'number',
    filter: true,
    follow: 'flag',
    signal: 'signal',
  },
  'an audit',
);

/** The types of an audit: everything that was believed, decided or changed, and by whom. */
export const auditTypes: readonly string[] = Object.entries(eventTypes)
  .filter(([, { structural, audited }]) => structural || audited === true)
  .map(([type]) => type);

/** Reads the events of an audit from the raw history: nothing that was rewound or reverted is missing. */
export function audit(engine: Engine, where: Placed, options: FollowingAudit): Replay {
  checkKeys(options, auditKeys);
  const { limit, after, filter, follow, signal } = options;
  if (limit !== undefined && !(Number.isSafeInteger(limit) && limit >= 0))
    throw new RepriseError('option.invalid', `Cannot audit with a limit of ${String(limit)}`, {
      hint: 'It takes a whole number from 0.',
      details: { option: 'limit' },
    });
  const { types, ...chosen }: EventFilter = filter === undefined ? {} : checkFilter(filter);
  const request = {
    history: 'raw',
    filter: { ...chosen, types: types?.filter((type) => auditTypes.includes(type)) ?? auditTypes },
    ...given({ after, signal }),
  } as const;
  if (limit === undefined) return replay(engine, where, { ...request, ...given({ follow }) });
  return new NewestEvents(
    limit,
    () => replay(engine, where, { ...request, direction: 'backward', limit: Math.max(limit, 1) }),
    (since) => (follow === true ? replay(engine, where, { ...request, after: since, follow: true }) : undefined),
  );
}

/** The newest events of a replay, the oldest of them first, and then those that follow. */
class NewestEvents implements Replay {
  readonly #events: AsyncGenerator<Event, void, undefined>;
  /** The replay that is being read: it may wait forever, so an end has to reach it. */
  #reading: Replay | undefined;

  constructor(limit: number, newest: () => Replay, following: (after: number) => Replay | undefined) {
    this.#events = this.#read(limit, newest, following);
  }

  async *#read(
    limit: number,
    newest: () => Replay,
    following: (after: number) => Replay | undefined,
  ): AsyncGenerator<Event, void, undefined> {
    const held: Event[] = [];
    this.#reading = newest();
    for await (const event of this.#reading) held.push(event);
    // With a limit of 0, the newest event only says where to follow from.
    yield* held.slice(0, limit).toReversed();
    this.#reading = following(held[0]?.seq ?? 0);
    if (this.#reading !== undefined) yield* this.#reading;
  }

  next(): Promise<IteratorResult<Event, void>> {
    return this.#events.next();
  }

  async return(): Promise<IteratorResult<Event, void>> {
    await this.#reading?.return?.();
    await this.#events.return();
    return { value: undefined, done: true };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
