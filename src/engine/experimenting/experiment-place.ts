import { RepriseError } from '../../core/error.ts';
import type { EventFilter } from '../../core/event/filter.ts';
import { given, isObject } from '../../core/json.ts';
import { shownValue } from '../../core/known-keys.ts';
import { previous, type Seq } from '../../core/point.ts';
import { mainBranch, type PointInput } from '../../core/ref.ts';
import type { Engine } from '../context/engine.ts';
import { findPlace, type Place, placeAtHead } from '../history/place.ts';
import { findEvent } from '../looking/find.ts';
import { replay } from '../looking/replay.ts';

/**
 * The point of each session that an experiment on a set starts from: after the first user message, before the model
 * decided on the first call of a tool, after or before the first event that a filter matches, or a point as `fork` takes
 * it.
 */
export type SetPoint =
  | 'first-user-message'
  | { readonly beforeCall: string }
  | { readonly after: EventFilter }
  | { readonly before: EventFilter }
  | { readonly point: PointInput };

/** Finds the point of a session that an experiment starts from, on its main branch. */
export async function setPlace(engine: Engine, session: string, at: SetPoint): Promise<Place> {
  if (typeof at === 'object' && 'point' in at) return findPlace(engine, session, at.point);
  const seq = await seqOf(engine, session, at);
  if (seq === undefined)
    throw new RepriseError('point.out-of-range', `Cannot start from "${session}": no event is ${wordsOf(at)}`, {
      hint: 'Leave the session out, or choose a point that every session has.',
      details: { session },
    });
  return findPlace(engine, session, { branch: mainBranch, seq });
}

/** Refuses what is not a point of a set, from a caller without types. */
export function checkSetPoint(at: unknown): void {
  const names = ['point', 'beforeCall', 'after', 'before'];
  if (at === 'first-user-message' || (isObject(at) && names.some((name) => name in at))) return;
  throw new RepriseError('experiment.invalid', `Cannot start from ${shownValue(at)}: it is not a point of a set`, {
    hint: `Write "first-user-message", or an object with ${names.join(', ')}.`,
  });
}

/** Says which point it is, in words. */
function wordsOf(at: SetPoint): string {
  if (at === 'first-user-message') return 'the first user message';
  if ('beforeCall' in at) return `the first call of "${at.beforeCall}"`;
  return 'point' in at ? 'at that point' : 'one that the filter matches';
}

async function seqOf(
  engine: Engine,
  session: string,
  at: Exclude<SetPoint, { readonly point: PointInput }>,
): Promise<Seq | undefined> {
  const main = await placeAtHead(engine, session, mainBranch);
  if (at === 'first-user-message') return firstUserMessage(engine, main);
  if ('beforeCall' in at) return beforeDecision(engine, main, at.beforeCall);
  const found = await findEvent(engine, main, 'after' in at ? at.after : at.before);
  if (found === undefined) return undefined;
  return 'after' in at ? found.seq : previous(found.seq);
}

/** A user message may be recorded only in the list of the first model call: then the point is just before that call. */
async function firstUserMessage(engine: Engine, main: Place): Promise<Seq | undefined> {
  const fields = [{ key: 'message.role', pattern: '^user$' }];
  const said = await findEvent(engine, main, { types: ['message.added'], fields });
  if (said !== undefined) return said.seq;
  const asked = await findEvent(engine, main, { types: ['call.started'], kind: 'model' });
  return asked === undefined ? undefined : previous(asked.seq);
}

/** Returns the seq before the model call that asked for the tool, so that the model decides again. */
async function beforeDecision(engine: Engine, main: Place, name: string): Promise<Seq | undefined> {
  const calls = { types: ['call.started'], name } as const;
  for await (const { seq, run } of replay(engine, main, { filter: calls, limit: 1 })) {
    const models = { types: ['call.started'], kind: 'model', through: seq, ...given({ run }) };
    const asked = await findEvent(engine, main, models, { direction: 'backward' });
    return previous(asked?.seq ?? seq);
  }
  return undefined;
}
