import { useStudio } from '../frame/studio.ts';
import { announce } from '../parts/announcer.ts';
import { asError } from '../parts/use-answer.ts';
import type { StudioRun } from '../source/answers.ts';

/** Stops a run that is under way. A token that may not run sees no button. */
export function StopButton({ run }: { readonly run: StudioRun }): React.ReactNode {
  const { source, rights } = useStudio();
  if (run.endedAt !== null || !rights.value.run) return null;
  return (
    <button
      type="button"
      className="button danger"
      onClick={() => {
        source.stop(run.id).catch((error: unknown) => announce(asError(error).message));
      }}
    >
      ■ Stop
    </button>
  );
}
