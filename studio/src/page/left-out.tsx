import { useState } from 'react';
import type { PageRows } from '../../../src/engine/bundling/page-rows.ts';
import { plural } from '../../../src/wording/amount.ts';

/** Says what rules left out of this file. */
export function LeftOut({ leftOut }: { readonly leftOut: PageRows['leftOut'] }): React.ReactNode {
  const [isOpen, setOpen] = useState(true);
  const count = leftOut.reduce((sum, { payloads }) => sum + payloads, 0);
  if (count === 0 || !isOpen) return null;
  return (
    <div className="left-out float" role="note" data-part="left-out">
      <span>
        {plural(count, 'payload')} left out of this file:{' '}
        {leftOut.map(({ rule, payloads }) => `${payloads} by ${rule}`).join(', ')}. The chain still verifies.
      </span>
      <button type="button" className="quiet" aria-label="Close" onClick={() => setOpen(false)}>
        ✕
      </button>
    </div>
  );
}
