import type { ListEdits } from '../core/decode.ts';
import type { Event } from '../core/event.ts';
import { limits } from '../core/limits.ts';
import type { Cursor } from '../core/ports.ts';
import { applyEvent, finishValue, initialValue, type Projection } from '../core/projection.ts';
import { rawPieces, segmentsOf } from '../core/segment.ts';
import type { View } from '../core/view.ts';
import type { Engine } from './engine.ts';
import { readEvents } from './events.ts';
import { asItIs, type Hypothesis } from './hypothesis.ts';
import { listEditsOf } from './list-edits.ts';
import { groupsOf, type Look, lookAt, supposedEvents } from './look.ts';
import type { Place } from './place.ts';
import { baseFor, SnapshotKeeper } from './snapshot.ts';

/** The state of a projection at a place. */
export async function foldAt<Value, Result>(
  engine: Engine,
  place: Place,
  projection: Projection<Value, Result>,
  snapshots = true,
): Promise<Result> {
  return fold(engine, asItIs(place), projection, snapshots);
}

/** Folds what a hypothesis leads to. */
export async function fold<Value, Result>(
  engine: Engine,
  hypothesis: Hypothesis,
  projection: Projection<Value, Result>,
  snapshots = true,
): Promise<Result> {
  const isRaw = projection.history === 'raw';
  const look = lookAt(engine, hypothesis);
  const all = isRaw ? { pieces: rawPieces(hypothesis.history, hypothesis.at) } : look.view;
  const base = snapshots ? await baseFor(engine, hypothesis, projection, all) : undefined;
  const isStored = hypothesis.events.size === 0;
  const keeper = snapshots && isStored ? new SnapshotKeeper(engine, hypothesis.place, projection) : undefined;
  let value = base === undefined ? initialValue(projection) : base.value;
  const listEdits = isRaw ? undefined : await listEditsOf(look);
  for await (const { events, bytes } of eventsOf(look, base?.rest ?? all, listEdits)) {
    for (const event of events) {
      value = applyEvent(projection, value, event);
      if (keeper?.isDue(bytes / events.length) === true) await keeper.offer(event, value);
    }
  }
  return finishValue(projection, value);
}

/** The events of some pieces in order: stored ones by the page, supposed ones from memory. */
async function* eventsOf(
  { engine, hypothesis }: Look,
  { pieces }: View,
  listEdits: ListEdits | undefined,
): AsyncGenerator<{ readonly events: readonly Event[]; readonly bytes: number }> {
  const { session, seq: stored } = hypothesis.place;
  for (const group of groupsOf(pieces, stored)) {
    if (group.isSupposed) {
      yield { events: supposedEvents(group, hypothesis, listEdits), bytes: 0 };
      continue;
    }
    let cursor: Cursor | undefined;
    do {
      const page = await readEvents(engine, session, segmentsOf(group), {
        limit: limits.pageEventsMax,
        direction: 'forward',
        ...(listEdits === undefined ? {} : { listEdits }),
        ...(cursor === undefined ? {} : { cursor }),
      });
      if (page.events.length > 0) yield page;
      cursor = page.next;
    } while (cursor !== undefined);
  }
}
