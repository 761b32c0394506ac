import { useCell } from '../parts/cell.ts';
import { useNow } from '../runs/use-now.ts';
import { useStudio } from './studio.ts';

/** A line at the bottom while the server does not answer. What is on screen stays readable. */
export function AwayLine(): React.ReactNode {
  const { away } = useStudio();
  const held = useCell(away);
  const now = useNow(held !== undefined);
  if (held === undefined) return null;
  const left = Math.max(0, Math.ceil((held.retryAt - now) / 1_000));
  return (
    <div className="away" role="alert" data-part="away">
      <span className="color-warning">●</span> No answer since {new Date(held.since).toLocaleTimeString('en-GB')},{' '}
      {left > 0 ? `trying again in ${left} s` : 'trying again'}. <span className="faint">{held.why}</span>
    </div>
  );
}
