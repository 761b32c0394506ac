import { useMemo } from 'react';
import { useStudio } from '../frame/studio.ts';
import { type Answer, useAnswer } from '../parts/use-answer.ts';
import type { StudioBranch } from '../source/answers.ts';
import type { StudioSource } from '../source/studio-source.ts';
import type { ForkMark } from '../strip/scene.ts';

/** Pages of branches that are read at once. */
const pagesMax = 10;

async function readBranches(
  source: StudioSource,
  namespace: string,
  session: string,
  signal: AbortSignal,
): Promise<readonly StudioBranch[]> {
  const branches: StudioBranch[] = [];
  let cursor = '';
  for (let page = 0; page < pagesMax; page++) {
    const found = await source.tree(namespace, session, cursor, signal);
    branches.push(...found.items);
    cursor = found.cursor;
    if (cursor === '') break;
  }
  return branches;
}

/** Returns the branches of a session; of none, nothing. Something that differs when they may have changed makes them be read again. */
export function useBranches(session: string, changed: number | string): Answer<readonly StudioBranch[]> {
  const { source, namespace } = useStudio();
  const key = session === '' ? undefined : `branches ${session} ${changed}`;
  return useAnswer(key, (signal) => readBranches(source, namespace, session, signal), {
    keep: false,
  });
}

/** Returns the forks on a branch's history: the same list while they stay the same, so that nothing is drawn anew for it. */
export function useForks(branches: readonly StudioBranch[] | undefined, branch: string): readonly ForkMark[] {
  const text = useMemo(() => JSON.stringify(forksOf(branches ?? [], branch)), [branches, branch]);
  return useMemo(() => JSON.parse(text) as readonly ForkMark[], [text]);
}

/** Finds the forks that lie on a branch's history: from itself, and from its ancestors before it grew from them. */
export function forksOf(
  branches: readonly Pick<StudioBranch, 'branch' | 'parent'>[],
  branch: string,
): readonly ForkMark[] {
  const byName = new Map(branches.map((each) => [each.branch, each]));
  const until = new Map<string, number>([[branch, Number.POSITIVE_INFINITY]]);
  let child = branch;
  let parent = byName.get(child)?.parent ?? null;
  while (parent !== null && !until.has(parent.branch)) {
    until.set(parent.branch, Math.min(parent.seq, until.get(child) ?? Number.POSITIVE_INFINITY));
    child = parent.branch;
    parent = byName.get(child)?.parent ?? null;
  }
  return branches
    .flatMap(({ branch: name, parent }) =>
      parent !== null && !until.has(name) && parent.seq <= (until.get(parent.branch) ?? -1)
        ? [{ seq: parent.seq, branch: name }]
        : [],
    )
    .sort((a, b) => a.seq - b.seq);
}
