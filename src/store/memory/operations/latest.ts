import { type KeySelector, sortKeys } from '../../../core/event/keys.ts';
import { checkLimit, limits } from '../../../core/limits.ts';
import type { LatestPage, LatestRequest, StoredEvent } from '../../../core/store/event-store.ts';
import { compareUtf8 } from '../../../core/utf8.ts';
import { inRange, segmentsAt } from '../../../core/view/segment.ts';
import type { Segment, ViewPoint } from '../../../core/view/view.ts';
import { eventAt, type HeldSession } from '../shelf.ts';
import { keysUnder } from './append.ts';
import { selected } from './read.ts';

/** Returns the same as {@link latestPage} for the view at a point. */
export function latestAt(
  session: HeldSession | undefined,
  view: ViewPoint,
  select: KeySelector,
  page: LatestRequest,
): LatestPage {
  const history = session?.branches.get(view.branch)?.state.history;
  const segments = history === undefined ? undefined : segmentsAt(history, view);
  if (session === undefined || history === undefined || segments === undefined) return { entries: [] };
  return { ...latestPage(session, segments, select, page), head: history.head };
}

/** Returns, for each selected key, the last event of the view that is indexed under it. */
export function latestPage(
  session: HeldSession,
  view: readonly Segment[],
  select: KeySelector,
  page: LatestRequest,
): LatestPage {
  const limit = Math.min(page.limit, limits.pageEventsMax);
  const { after } = page;
  const keys = candidates(session, view, select);
  const entries: { readonly key: string; readonly event: StoredEvent }[] = [];
  for (let index = after === undefined ? 0 : placeAfter(keys, after); index < keys.length; index++) {
    const key = keys[index] as string;
    const event = latestOf(session, view, key, page.select);
    if (event === undefined) continue;
    if (entries.length === limit) return { entries, next: entries.at(-1)?.key ?? '' };
    entries.push({ key, event });
  }
  return { entries };
}

/** Returns the index of the first key after a given one. */
function placeAfter(keys: readonly string[], after: string): number {
  let [low, high] = [0, keys.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compareUtf8(keys[middle] as string, after) <= 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

function candidates(session: HeldSession, view: readonly Segment[], select: KeySelector): readonly string[] {
  if ('keys' in select) {
    checkLimit('selectedKeysMax', select.keys.length, 'look up keys');
    return sortKeys(new Set(select.keys));
  }
  const branches = [...new Set(view.map((segment) => segment.branch))].flatMap(
    (name) => session.branches.get(name) ?? [],
  );
  const [only] = branches;
  if (branches.length === 1 && only !== undefined) return keysUnder(only, select.prefix);
  return sortKeys(new Set(branches.flatMap((branch) => keysUnder(branch, select.prefix))));
}

function latestOf(
  session: HeldSession,
  view: readonly Segment[],
  key: string,
  select: 'header' | 'full',
): StoredEvent | undefined {
  for (let index = view.length - 1; index >= 0; index--) {
    const segment = view[index] as Segment;
    const branch = session.branches.get(segment.branch);
    const seq = branch?.keys
      .get(key)
      ?.findLast((held) => inRange(segment, held) && !segment.except.some((range) => inRange(range, held)));
    const event = branch === undefined || seq === undefined ? undefined : eventAt(branch, seq);
    if (event !== undefined) return selected(event, select);
  }
  return undefined;
}
