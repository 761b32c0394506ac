import { splitWords } from '../../../src/core/event/filter-words.ts';
import type { SessionRow } from '../source/answers.ts';

/** The columns by which sessions are sorted. */
const sessionColumns = ['outcome', 'title', 'started', 'took', 'turns', 'tokens', 'cost', 'branches'] as const;

/** A column by which sessions are sorted. */
export type SessionColumn = (typeof sessionColumns)[number];

/** The order of a list of sessions: a column, and whether the largest come first. */
export interface SessionOrder {
  readonly by: SessionColumn;
  readonly isDown: boolean;
}

/** Reads the order from the words of a list: `sort=cost` has the smallest first, `sort=-cost` the largest. */
export function readOrder(query: string): SessionOrder | undefined {
  const word = splitWords(query).findLast(({ name }) => name === 'sort')?.value ?? '';
  const by = sessionColumns.find((column) => column === word.replace(/^-/, ''));
  return by === undefined ? undefined : { by, isDown: word.startsWith('-') };
}

/** Returns the words of a list with a column chosen: the largest first, then the smallest, then as they came. */
export function withOrder(query: string, by: SessionColumn): string {
  const order = readOrder(query);
  const rest = query.replace(/(?:^|\s)sort=\S*/g, '').trim();
  const next = order?.by !== by ? `sort=-${by}` : order.isDown ? `sort=${by}` : '';
  return `${rest} ${next}`.trim();
}

const values: Readonly<Record<SessionColumn, (row: SessionRow) => string | number | null>> = {
  outcome: ({ outcome }) => outcome,
  title: ({ title, session }) => (title ?? session).toLowerCase(),
  started: ({ startedAt }) => startedAt,
  took: ({ durationMs }) => durationMs,
  turns: ({ turns }) => turns,
  tokens: ({ usage }) => usage.inputTokens + usage.outputTokens,
  cost: ({ usage }) => usage.cost ?? null,
  branches: ({ branches }) => branches,
};

/** Sorts sessions. Those without a value come last, whichever way; equal ones stay as they were. */
export function sortSessions(rows: readonly SessionRow[], { by, isDown }: SessionOrder): readonly SessionRow[] {
  const valueOf = values[by];
  return rows.toSorted((a, b) => {
    const [left, right] = [valueOf(a), valueOf(b)];
    if (left === null || right === null) return Number(left === null) - Number(right === null);
    if (left === right) return 0;
    return left < right === isDown ? 1 : -1;
  });
}
