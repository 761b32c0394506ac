import { useMemo } from 'react';
import { nearDifferences, wordRuns } from '../../../src/wording/word-diff.ts';
import { RecordedText } from './recorded-text.tsx';

/** The longest strings that are compared by words. */
const comparedMax = 100_000;

/** Two strings as one: words that left are struck out, words that came are marked. */
export function WordDifference({
  before,
  after,
  near = false,
}: {
  readonly before: string;
  readonly after: string;
  readonly near?: boolean;
}): React.ReactNode {
  const runs = useMemo(() => {
    if (before.length + after.length > comparedMax) return undefined;
    const found = wordRuns(before, after);
    return near ? nearDifferences(found) : found;
  }, [before, after, near]);
  if (runs === undefined)
    return (
      <div>
        <p className="faint">too long to compare by words</p>
        <ins className="diff-in">
          <RecordedText text={after.slice(0, 4_000)} />
        </ins>
      </div>
    );
  return (
    <span className="difference">
      {runs.map((run, at) => {
        const key = `${at} ${run.kind}`;
        if (run.kind === 'left')
          return (
            <del key={key} className="diff-out">
              <RecordedText text={run.text} />
            </del>
          );
        if (run.kind === 'right')
          return (
            <ins key={key} className="diff-in">
              <RecordedText text={run.text} />
            </ins>
          );
        return <RecordedText key={key} text={run.text} />;
      })}
    </span>
  );
}
