import { assert } from '../../core/error.ts';
import type { Event } from '../../core/event/event.ts';
import { beginning, type Seq } from '../../core/point.ts';
import type { SessionRecord } from '../../core/store/event-store.ts';
import { type View, viewAt } from '../../core/view/view.ts';
import type { Engine } from '../context/engine.ts';
import { FollowedFolds } from '../context/followed-folds.ts';
import type { OnBranch } from '../context/on-branch.ts';
import { type Following, followedName, followTo, learn } from '../history/follow.ts';
import { listEditsOf } from '../history/list-edits.ts';
import type { Place } from '../history/place.ts';
import { replacedIdsOf } from '../history/replaced-ids.ts';
import { eventsOf, sightAt } from '../history/sight.ts';
import { TurnBook } from './turn-book.ts';

/** Reads the turns of the view at a place. An event after `since` can be the reason why a turn runs. */
export async function readBook(engine: Engine, place: Place, since: Seq = beginning): Promise<TurnBook> {
  const book = new TurnBook(engine.platform.sha256, { since });
  await readInto(engine, book, place, { view: viewAt(place.history, place.seq) });
  return book;
}

/** Reads a part of the view at a place into a book. */
async function readInto(
  engine: Engine,
  book: TurnBook,
  place: Place,
  { view, of }: { readonly view: View; readonly of?: SessionRecord },
): Promise<void> {
  const sight = sightAt(engine, place, of);
  const request = { listEdits: await listEditsOf(sight), replacedIds: await replacedIdsOf(sight) };
  for await (const { events } of eventsOf(sight, view, request)) for (const event of events) book.add(event);
}

/** The book of a branch that is followed. It begins anew if an edit changed what it has. */
export class FollowedBook {
  readonly #engine: Engine;
  readonly #on: OnBranch;
  readonly #following: Following<TurnBook>;

  /** `begin` makes the book of a place that is read from the beginning. */
  constructor(engine: Engine, on: OnBranch, begin: (place: Place) => Promise<TurnBook>) {
    this.#engine = engine;
    this.#on = on;
    this.#following = {
      folds: new FollowedFolds<TurnBook>(1),
      read: async (_, place, { of, base }) => {
        if (base === undefined) return begin(place);
        await readInto(engine, base.value, place, { view: base.rest, of });
        return base.value;
      },
      add: (book, event) => {
        book.add(event);
        return book;
      },
    };
  }

  get #name(): string {
    return followedName(this.#engine, this.#on);
  }

  /** The seq of the last event that it has. */
  get seq(): Seq {
    return this.#following.folds.get(this.#name)?.seq ?? beginning;
  }

  /** Returns the book at a place, or at the later one to which it was read. */
  async at(place: Place, of: SessionRecord): Promise<TurnBook> {
    return this.#following.folds.lanes.inTurn(this.#name, async () => {
      const held = this.#following.folds.get(this.#name);
      const followed = await followTo(this.#engine, this.#following, place, of);
      if (followed !== 'ahead') return followed.value;
      assert(held !== undefined, 'a book that is ahead is kept');
      return held.value;
    });
  }

  /** Adds what was just appended; false if it has to be read. */
  learn(events: readonly Event[]): boolean {
    return learn(this.#following, this.#name, events);
  }
}
