import { plural } from '../../../src/wording/amount.ts';
import type { SessionRow } from '../source/answers.ts';

const [wide, tall] = [96, 18];
/** A short session does not fill the whole width. */
const columnsMin = 16;

/** How busy a session was, small; stretches with errors are red and have a mark below. */
export function Spark({
  activity: { events, errors },
}: {
  readonly activity: SessionRow['activity'];
}): React.ReactNode {
  const most = Math.max(1, ...events);
  const step = wide / Math.max(columnsMin, events.length);
  const failed = errors.reduce((sum, count) => sum + count, 0);
  return (
    <svg
      className="spark"
      width={wide}
      height={tall}
      viewBox={`0 0 ${wide} ${tall}`}
      role="img"
      aria-label={failed === 0 ? 'Activity' : `Activity, ${plural(failed, 'error')}`}
    >
      {events.map((count, at) => {
        const high = count === 0 ? 0 : Math.max(2, Math.sqrt(count / most) * (tall - 4));
        const hasError = (errors[at] ?? 0) > 0;
        return (
          <g key={`${at * step}`}>
            <rect
              className={hasError ? 'spark-error' : 'spark-bar'}
              x={at * step}
              y={tall - 3 - high}
              width={Math.max(1, step - 1)}
              height={high}
            />
            {hasError ? (
              <rect className="spark-error" x={at * step} y={tall - 2} width={Math.max(2, step - 1)} height={2} />
            ) : null}
          </g>
        );
      })}
    </svg>
  );
}
