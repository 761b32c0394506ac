import { useStudio } from '../frame/studio.ts';
import { keySign, useActions } from '../keys/actions.ts';
import { announce } from '../parts/announcer.ts';
import { useCell } from '../parts/cell.ts';
import { asError } from '../parts/use-answer.ts';
import type { StudioRun } from '../source/answers.ts';

const stopKey = 'Mod+.';

/** Stops a run that is under way. A token that may not run sees no button. */
export function StopButton({
  run,
  hasKey = false,
}: {
  readonly run: StudioRun;
  /** Whether the key stops this run: of several on screen, only one. */
  readonly hasKey?: boolean;
}): React.ReactNode {
  const { source, rights } = useStudio();
  const mayStop = useCell(rights).run && run.endedAt === null;
  const stop = (): void => {
    source.stop(run.id).catch((error: unknown) => announce(asError(error).message));
  };
  useActions([
    {
      id: 'stop',
      name: 'Stop the run',
      keys: [stopKey],
      group: 'Change',
      run: mayStop && hasKey ? stop : undefined,
    },
  ]);
  if (!mayStop) return null;
  return (
    <button type="button" className="button danger" onClick={stop}>
      ■ Stop {hasKey ? <kbd className="key">{keySign(stopKey)}</kbd> : null}
    </button>
  );
}
