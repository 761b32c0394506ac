import { useEffect } from 'react';
import { durationText } from '../../../src/wording/amount.ts';
import { runAddress } from '../address/address.ts';
import { useStudio } from '../frame/studio.ts';
import { lookOfOutcome } from '../look/glyphs.ts';
import { useCell } from '../parts/cell.ts';
import { Nothing } from '../parts/states.tsx';
import type { StudioRun } from '../source/answers.ts';
import { Questions } from './questions.tsx';
import { StopButton } from './stop-button.tsx';
import { useNow } from './use-now.ts';

/** The runs that were started here: what is running now, and the questions that wait. */
export function RunsScreen(): React.ReactNode {
  const studio = useStudio();
  const runs = useCell(studio.runs);
  const { whyNoRuns } = useCell(studio.rights);
  useEffect(() => studio.show([]), [studio]);
  const now = useNow(runs.some((run) => run.endedAt === null));
  const sorted = [...runs].sort(
    (a, b) => Number(a.endedAt !== null) - Number(b.endedAt !== null) || b.startedAt.localeCompare(a.startedAt),
  );
  return (
    <div className="screen runs">
      <header className="screen-head">
        <h1>Runs</h1>
      </header>
      {sorted.length === 0 ? (
        <Nothing>No run was started here. {whyNoRuns === '' ? 'Open a point and press F.' : whyNoRuns}</Nothing>
      ) : null}
      <ul className="runs-list">
        {sorted.map((run) => (
          <RunRow key={run.id} run={run} now={now} />
        ))}
      </ul>
    </div>
  );
}

function RunRow({ run, now }: { readonly run: StudioRun; readonly now: number }): React.ReactNode {
  const { bar } = useStudio();
  const look = lookOfOutcome(run.endedAt === null ? 'silent' : run.outcome);
  const until = run.endedAt === null ? now : Date.parse(run.endedAt);
  return (
    <li className="run-row">
      <span className={`color-${look.hue}`}>
        {look.glyph} {look.word}
      </span>
      <strong>{run.agent}</strong>
      <span className="dim">
        {run.kind} from {run.from}
        {run.branch === null ? '' : `, branch ${run.branch}`}
      </span>
      <span className="faint">{durationText(Math.max(0, until - Date.parse(run.startedAt)))}</span>
      {run.error === null ? null : <span className="color-error">{run.error.message}</span>}
      <span className="spacer" />
      {run.branch === null ? null : (
        <button
          type="button"
          className="button"
          onClick={() => bar.go(runAddress(run.session, run.branch ?? 'main', 'head'))}
        >
          Open
        </button>
      )}
      {run.experiment === null ? null : (
        <button
          type="button"
          className="button"
          onClick={() => bar.go({ screen: 'experiment', session: run.session, id: run.experiment?.id ?? '' })}
        >
          Open the table
        </button>
      )}
      <StopButton run={run} />
      <Questions run={run} />
    </li>
  );
}
