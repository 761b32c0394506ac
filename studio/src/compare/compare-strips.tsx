import { useEffect, useMemo } from 'react';
import { parseRef } from '../../../src/core/ref.ts';
import { useStudio } from '../frame/studio.ts';
import { spokenRow } from '../list/event-list.tsx';
import { useCell } from '../parts/cell.ts';
import type { CompareAnswer, ComparePair } from '../source/answers.ts';
import type { BranchName } from '../source/studio-source.ts';
import type { ForkMark } from '../strip/scene.ts';
import { Strip } from '../strip/strip.tsx';
import { nearestPair, placeSeqs, type Side, seqOf } from './compare-places.ts';

/** The properties of the strips. */
export interface CompareStripsProps {
  readonly refs: readonly [left: string, right: string];
  readonly answer: CompareAnswer | undefined;
  readonly pairs: readonly ComparePair[];
  /** The pair that is looked at. */
  readonly at: number | undefined;
  /** Goes to a pair. */
  readonly onPair: (pair: number) => void;
}

const sides = ['left', 'right'] as const;

/** The strips of both histories, above each other: a click on either goes to its pair, and marks show where they part. */
export function CompareStrips(props: CompareStripsProps): React.ReactNode {
  const studio = useStudio();
  const names = useMemo(
    () => props.refs.map((ref) => nameOf(ref, studio.namespace)),
    [props.refs[0], props.refs[1], studio],
  );
  useEffect(() => studio.show(names), [studio, names]);
  return (
    <div className="compare-strips">
      {sides.map((side, index) => {
        const name = names[index];
        return name === undefined ? null : <SideStrip key={side} {...props} side={side} name={name} />;
      })}
    </div>
  );
}

/** Returns the branch that a ref names. */
export function nameOf(ref: string, namespace: string): BranchName {
  const { session, branch } = parseRef(ref);
  return { namespace, session, branch };
}

const noForks: readonly ForkMark[] = [];
const lanesMax = 60;

function SideStrip({
  side,
  name,
  answer,
  pairs,
  at,
  onPair,
}: CompareStripsProps & { readonly side: Side; readonly name: BranchName }): React.ReactNode {
  const studio = useStudio();
  const { history } = useMemo(() => studio.open(name, 0), [studio, name]);
  const { version } = useCell(history.progress);
  const ticks = useMemo(() => placeSeqs(answer, side), [answer, side]);
  const pair = at === undefined ? undefined : pairs[at];
  const selected = (pair === undefined ? undefined : seqOf(pair, side)) ?? ticks[0] ?? history.index.head;
  return (
    <div className="compare-strip">
      <p className="strip-name faint">
        {side}, {name.branch}
      </p>
      <Strip
        index={history.index}
        version={version}
        scale="time"
        range={undefined}
        selected={selected}
        pinned={undefined}
        isMatch={undefined}
        ticks={ticks}
        forks={noForks}
        lanesMax={lanesMax}
        label={`The strip of ${name.branch}`}
        spoken={`${name.branch} ${spokenRow(history.index, selected)}`}
        onSelect={(seq) => onPair(nearestPair(pairs, side, seq))}
        onHover={() => undefined}
        onRange={() => undefined}
      />
    </div>
  );
}
