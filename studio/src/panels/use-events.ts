import type { Event } from '../../../src/core/event/event.ts';
import { useStudio } from '../frame/studio.ts';
import { type Answer, useAnswer } from '../parts/use-answer.ts';
import type { BranchName, CutValue } from '../source/studio-source.ts';

/** Returns events of a branch, as they are stored. */
export function useEvents(
  { namespace, session, branch }: BranchName,
  seqs: readonly number[],
): Answer<readonly CutValue<Event>[]> {
  const { source } = useStudio();
  const name = { namespace, session, branch };
  const wanted = seqs.filter((seq) => seq > 0);
  const key = wanted.length === 0 ? undefined : `events ${JSON.stringify(name)} ${wanted.join()}`;
  return useAnswer(key, (signal) => source.events(name, wanted, signal));
}
