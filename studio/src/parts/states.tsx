import type { RepriseError } from '../../../src/core/error.ts';
import { RecordedText } from './recorded-text.tsx';

/** An error as it is: its message, what to do next, its code, and a way to try again. */
export function Failure({
  error,
  onAgain,
}: {
  readonly error: RepriseError;
  readonly onAgain?: (() => void) | undefined;
}): React.ReactNode {
  return (
    <div className="failure" role="alert">
      <p className="failure-message">
        <span className="color-error">✕</span> <RecordedText text={error.message} />
      </p>
      {error.hint === undefined ? null : (
        <p className="dim">
          <RecordedText text={error.hint} />
        </p>
      )}
      <p className="failure-foot">
        <code className="dim">{error.code}</code>
        {onAgain === undefined ? null : (
          <button type="button" className="button" onClick={onAgain}>
            Try again
          </button>
        )}
      </p>
    </div>
  );
}

/** A place with nothing in it, which says why. */
export function Nothing({ children }: { readonly children: React.ReactNode }): React.ReactNode {
  return <div className="nothing">{children}</div>;
}

/** Content that stays while new content is on its way. */
export function Fading({
  isStale,
  children,
}: {
  readonly isStale: boolean;
  readonly children: React.ReactNode;
}): React.ReactNode {
  return (
    <div className="fading" data-stale={isStale || undefined} aria-busy={isStale}>
      {children}
    </div>
  );
}

/** A place whose content is on its way. A short wait says nothing. */
export function Reading(): React.ReactNode {
  return (
    <p className="reading faint" role="status">
      reading…
    </p>
  );
}
