import { sameJson } from '../../core/canonical-json.ts';
import { compareUtf8 } from '../../core/utf8.ts';
import type { StateValue } from './entry.ts';
import { type StateView, scanState } from './lookup.ts';

/** A key whose value differs between two points. */
export interface StateChange {
  readonly key: string;
  readonly agent: string;
  readonly kind: 'added' | 'removed' | 'changed';
  /** The value on the left; undefined if the key was added. */
  readonly left?: StateValue;
  /** The value on the right; undefined if the key was removed. */
  readonly right?: StateValue;
}

/** Whose keys to compare. */
interface DiffScope {
  readonly agent: string;
  readonly prefix: string;
}

/** Yields the keys whose values differ between two views, by their UTF-8 bytes. Keeps a page of each side in memory. */
export async function* diffState(
  left: StateView,
  right: StateView,
  { agent, prefix }: DiffScope,
): AsyncGenerator<StateChange, void, undefined> {
  const sides = [scanState(left, agent, prefix), scanState(right, agent, prefix)] as const;
  try {
    let [l, r] = [await nextOf(sides[0]), await nextOf(sides[1])];
    while (l !== undefined || r !== undefined) {
      const order = l === undefined ? 1 : r === undefined ? -1 : compareUtf8(l.key, r.key);
      const change = changeOf(order <= 0 ? l : undefined, order >= 0 ? r : undefined);
      if (change !== undefined) yield change;
      if (order <= 0) l = await nextOf(sides[0]);
      if (order >= 0) r = await nextOf(sides[1]);
    }
  } finally {
    for (const side of sides) await side.return();
  }
}

async function nextOf(side: AsyncGenerator<StateValue, void, undefined>): Promise<StateValue | undefined> {
  return (await side.next()).value ?? undefined;
}

function changeOf(left: StateValue | undefined, right: StateValue | undefined): StateChange | undefined {
  if (left === undefined)
    return right === undefined ? undefined : { key: right.key, agent: right.agent, kind: 'added', right };
  const { key, agent } = left;
  if (right === undefined) return { key, agent, kind: 'removed', left };
  const isSame = left.exists === right.exists && left.erased === right.erased && sameJson(left.value, right.value);
  return isSame ? undefined : { key, agent, kind: 'changed', left, right };
}
