import { parseRef } from '../../../src/core/ref.ts';
import { durationText } from '../../../src/wording/amount.ts';
import { runAddress } from '../address/address.ts';
import { useStudio } from '../frame/studio.ts';
import { useCell } from '../parts/cell.ts';
import { Questions } from '../runs/questions.tsx';
import { StopButton } from '../runs/stop-button.tsx';
import { useNow } from '../runs/use-now.ts';
import type { BranchName } from '../source/studio-source.ts';

/** A line for each run on this branch that is under way, with its questions and a way to stop it. */
export function RunBanner({
  name,
  isCompared = false,
}: {
  readonly name: BranchName;
  /** Whether the original is shown next to it already. */
  readonly isCompared?: boolean;
}): React.ReactNode {
  const { runs, bar } = useStudio();
  const all = useCell(runs);
  const own = all.filter(
    (run) =>
      run.session === name.session &&
      (run.branch === name.branch || (run.branch === null && run.from.startsWith(name.session))),
  );
  const shown = own
    .filter((run) => run.endedAt === null)
    .concat(own.filter((run) => run.endedAt !== null && run.branch === name.branch).slice(0, 1));
  const open = shown.find((run) => run.endedAt === null);
  const now = useNow(shown.some((run) => run.endedAt === null));
  return shown.map((run) => (
    <div
      key={run.id}
      className="banner"
      data-state={run.endedAt === null ? 'open' : (run.outcome ?? '')}
      role="status"
      data-part="run-banner"
    >
      {run.endedAt === null ? <span className="pulse" aria-hidden="true" /> : null}
      <span>
        {run.endedAt !== null
          ? `${run.agent} ended: ${run.outcome ?? 'unknown'}`
          : run.questions.some(({ answer }) => answer === null)
            ? `${run.agent} waits for your answer`
            : `${run.agent} is running`}
        {/* Read aloud, the seconds would never end. */}
        {run.endedAt === null ? (
          <span aria-hidden="true">, {durationText(Math.max(0, now - Date.parse(run.startedAt)))}</span>
        ) : null}
        {run.progress === null ? '' : `, ${run.progress.ended} of ${run.progress.total} branches`}
      </span>
      {run.error === null ? null : <span className="color-error">{run.error.message}</span>}
      <span className="spacer" />
      {run.branch === null || run.branch === branchIn(run.from) || isCompared ? null : (
        <button
          type="button"
          className="quiet"
          onClick={() =>
            bar.go(
              runAddress(name.session, branchIn(run.from), 'head', {
                with: [`${encodeURIComponent(name.session)}/${encodeURIComponent(run.branch ?? '')}`],
              }),
            )
          }
        >
          compare with the original
        </button>
      )}
      <StopButton run={run} hasKey={run === open} />
      <Questions run={run} />
    </div>
  ));
}

/** Returns the branch of a ref. */
const branchIn = (ref: string): string => parseRef(ref).branch;
