import { useMemo } from 'react';
import { costText, countText, durationText, plural } from '../../../src/wording/amount.ts';
import { type ScaleName, scales } from '../address/address.ts';
import { useStudio } from '../frame/studio.ts';
import type { EventIndex } from '../history/event-index.ts';
import type { HistoryProgress } from '../history/open-history.ts';
import { lookOfRun } from '../look/outcome-look.ts';
import { RecordedText } from '../parts/recorded-text.tsx';
import { useNow } from '../runs/use-now.ts';
import type { StudioBranch } from '../source/answers.ts';
import type { BranchName } from '../source/studio-source.ts';
import { sumsOf } from './range-sums.ts';

/** The properties of the line below the bar. */
export interface RunHeadProps {
  readonly name: BranchName;
  /** The facts of the branch; undefined until they are there. */
  readonly branch: StudioBranch | undefined;
  readonly index: EventIndex;
  readonly progress: HistoryProgress;
  readonly scale: ScaleName;
  readonly onScale: (scale: ScaleName) => void;
  readonly onOpenError: () => void;
}

/** The outcome of a run in one line: title, how it ended, turns, time, tokens, cost, agents. */
export function RunHead({ name, branch, index, progress, scale, onScale, onOpenError }: RunHeadProps): React.ReactNode {
  const { rights } = useStudio();
  const sums = useMemo(() => sumsOf(index, [1, index.head]), [index, progress.version]);
  const now = useNow(branch?.outcome === 'silent');
  const outcome = lookOfRun(branch ?? { outcome: null, silentSince: null }, now);
  const { head, isLoading } = progress;
  const errors = sums.errors;
  return (
    <header className="run-head">
      <p className="run-title">
        <RecordedText text={branch?.title ?? name.session} />
      </p>
      {branch === undefined ? null : (
        <span className={`run-outcome color-${outcome.hue}`} data-part="outcome">
          {outcome.glyph} {outcome.word}
        </span>
      )}
      <span className="run-facts">
        {errors === 0 ? null : (
          <button type="button" className="link color-error" onClick={onOpenError}>
            {plural(errors, 'error')}
          </button>
        )}
        {branch === undefined || branch.outcome === null ? null : (
          <>
            <span>{plural(branch.turns, 'turn')}</span>
            {branch.durationMs === null ? null : (
              <span title="The time of its runs, without the pauses between them">
                {durationText(branch.durationMs)}
              </span>
            )}
          </>
        )}
        {sums.inputTokens + sums.outputTokens === 0 ? null : (
          <span title={`${countText(sums.inputTokens)} in, ${countText(sums.outputTokens)} out`}>
            {shortCount(sums.inputTokens)} → {shortCount(sums.outputTokens)} tokens
          </span>
        )}
        {sums.cost === undefined ? null : <span>{costText(sums.cost)}</span>}
        <span className="run-agents">
          {index.words('agent').slice(0, 4).join(', ')}
          {index.words('agent').length > 4 ? ` and ${index.words('agent').length - 4} more` : ''}
        </span>
      </span>
      <span className="spacer" />
      {isLoading ? (
        <span className="faint run-loading" role="status">
          {head > 0 ? `${countText(index.count)} of ${plural(head, 'event')}` : 'loading the history…'}
        </span>
      ) : null}
      {rights.value.live ? null : <span className="chip">a copy, read only</span>}
      <span className="modes" role="group" aria-label="Scale of the strip">
        {scales.map((each) => (
          <button
            key={each}
            type="button"
            className="quiet"
            aria-pressed={each === scale}
            onClick={() => onScale(each)}
          >
            {each}
          </button>
        ))}
      </span>
    </header>
  );
}

/** Writes a count short and honest: `812`, `38.2 k`, `1.3 M`. */
export function shortCount(count: number): string {
  if (count < 1_000) return String(count);
  return count < 999_950 ? `${(count / 1_000).toFixed(1)} k` : `${(count / 1_000_000).toFixed(1)} M`;
}
