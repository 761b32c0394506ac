import '../look/compare.css';
import type { RepriseError } from '../../../src/core/error.ts';
import { parseRef } from '../../../src/core/ref.ts';
import type { RunAddress } from '../address/address.ts';
import { refOf } from '../frame/studio.ts';
import { Failure } from '../parts/states.tsx';
import { asError } from '../parts/use-answer.ts';
import { ComparePairs } from './compare-pairs.tsx';
import { CompareTable } from './compare-table.tsx';

/** Two histories side by side, or three to eight as a table. */
export function CompareScreen({ address }: { readonly address: RunAddress }): React.ReactNode {
  const { session, branch, at } = address;
  const seq = Number(at);
  const left = Number.isNaN(seq)
    ? `${encodeURIComponent(session)}/${encodeURIComponent(branch)}`
    : refOf({ session, branch, seq });
  const [right = ''] = address.with;
  const wrong = wrongRef(address.with);
  if (wrong !== undefined)
    return (
      <div className="screen">
        <Failure error={wrong} />
      </div>
    );
  return address.with.length === 1 ? (
    <ComparePairs address={address} left={left} right={right} />
  ) : (
    <CompareTable refs={[left, ...address.with]} />
  );
}

/** Returns why a ref of an address cannot be read; undefined if all can. */
function wrongRef(refs: readonly string[]): RepriseError | undefined {
  try {
    for (const ref of refs) parseRef(ref);
    return undefined;
  } catch (error) {
    return asError(error);
  }
}
