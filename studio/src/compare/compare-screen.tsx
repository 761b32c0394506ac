import type { RunAddress } from '../address/address.ts';
import { refOf } from '../frame/studio.ts';
import { ComparePairs } from './compare-pairs.tsx';
import { CompareTable } from './compare-table.tsx';

/** Two histories beside each other, or three to eight as a table. */
export function CompareScreen({ address }: { readonly address: RunAddress }): React.ReactNode {
  const { session, branch, at } = address;
  const seq = Number(at);
  const left = Number.isNaN(seq)
    ? `${encodeURIComponent(session)}/${encodeURIComponent(branch)}`
    : refOf({ session, branch, seq });
  const [right = ''] = address.with;
  return address.with.length === 1 ? (
    <ComparePairs address={address} left={left} right={right} />
  ) : (
    <CompareTable refs={[left, ...address.with]} />
  );
}
