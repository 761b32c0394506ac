import { RepriseError } from '../../../src/core/error.ts';
import { type RunAddress, runAddress } from '../address/address.ts';
import { useStudio } from '../frame/studio.ts';
import { nearestNames } from '../parts/nearest-names.ts';
import { RecordedText } from '../parts/recorded-text.tsx';
import { Failure } from '../parts/states.tsx';
import { useAnswer } from '../parts/use-answer.ts';

/** A place that cannot be opened: the error, and the nearest names if the session or the branch is unknown. */
export function UnknownPlace({
  error,
  address: { session, branch },
  onAgain,
}: {
  readonly error: RepriseError;
  readonly address: RunAddress;
  readonly onAgain: () => void;
}): React.ReactNode {
  const { source, namespace, bar } = useStudio();
  const missing =
    error.code === 'session.not-found' ? 'session' : error.code === 'branch.not-found' ? 'branch' : undefined;
  const { value: names } = useAnswer(
    missing === undefined ? undefined : `nearest ${missing} ${session} ${branch}`,
    async (signal) => {
      if (missing === 'session') {
        const { items } = await source.sessions(namespace, {}, '', signal);
        return nearestNames(
          session,
          items.map((row) => row.session),
        );
      }
      const { items } = await source.tree(namespace, session, '', signal);
      return nearestNames(
        branch,
        items.map((row) => row.branch),
      );
    },
    { keep: false },
  );
  return (
    <div className="screen">
      {/* The hint is for programs; the names below are for people. */}
      <Failure error={missing === undefined ? error : new RepriseError(error.code, error.message)} onAgain={onAgain} />
      {names === undefined || names.length === 0 ? null : (
        <nav className="nearest" aria-label="Nearest names" data-part="nearest">
          <p className="dim">Did you mean</p>
          {names.map((name) => (
            <button
              key={name}
              type="button"
              className="link mono"
              onClick={() =>
                bar.go(missing === 'session' ? runAddress(name, 'main', 'head') : runAddress(session, name, 'head'))
              }
            >
              <RecordedText text={name} />
            </button>
          ))}
          <button type="button" className="link" onClick={() => bar.go({ screen: 'sessions', query: '' })}>
            see all sessions
          </button>
        </nav>
      )}
    </div>
  );
}
