import { plural } from '../../../src/wording/amount.ts';
import type { SessionRow } from '../source/answers.ts';

const [wide, tall] = [96, 18];
/** A short session does not fill the whole width. */
const columnsMin = 16;

/** How busy a session was, small; the errors of a stretch are its red part. */
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
        const high = count === 0 ? 0 : Math.max(2, Math.sqrt(count / most) * (tall - 2));
        const failedPart = count === 0 ? 0 : Math.min(1, (errors[at] ?? 0) / count);
        const red = failedPart === 0 ? 0 : Math.max(3, failedPart * high);
        const wideBar = Math.max(1, step - 1);
        return (
          <g key={`${at * step}`}>
            <rect className="spark-bar" x={at * step} y={tall - high} width={wideBar} height={high} />
            {red === 0 ? null : (
              <rect className="spark-error" x={at * step} y={tall - red} width={wideBar} height={red} />
            )}
          </g>
        );
      })}
    </svg>
  );
}
