import { useEffect, useMemo } from 'react';
import { parseRef } from '../../../src/core/ref.ts';
import { useStudio } from '../frame/studio.ts';
import { spokenRow } from '../list/event-list.tsx';
import { useCell } from '../parts/cell.ts';
import type { CompareAnswer, ComparePair } from '../source/answers.ts';
import type { BranchName } from '../source/studio-source.ts';
import type { ForkMark } from '../strip/scene.ts';
import { Strip } from '../strip/strip.tsx';

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

function nameOf(ref: string, namespace: string): BranchName {
  const { session, branch } = parseRef(ref);
  return { namespace, session, branch };
}

const noForks: readonly ForkMark[] = [];
const lanesMax = 60;

type Side = (typeof sides)[number];

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
  const ticks = useMemo(() => placesOf(answer, side), [answer, side]);
  const pair = at === undefined ? undefined : pairs[at];
  const selected = (pair === undefined ? undefined : seqOf(pair, side)) ?? ticks[0] ?? history.index.head;
  return (
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
  );
}

/** Returns the seq of a pair on one side: of a stretch, its first. */
function seqOf(pair: ComparePair, side: Side): number | undefined {
  return pair.kind === 'equal' ? pair[side][0] : pair[side]?.seq;
}

/** Returns the places at which the histories part and meet again, on one side. */
function placesOf(answer: CompareAnswer | undefined, side: Side): readonly number[] {
  if (answer === undefined) return [];
  return [answer.divergedAt, answer.sustainedAt, ...answer.reconvergedAt].flatMap((place) => {
    const seq = place?.[side];
    return seq === undefined || seq === null ? [] : [seq];
  });
}

/** Finds the pair whose event on one side is nearest to a seq. */
export function nearestPair(pairs: readonly ComparePair[], side: Side, seq: number): number {
  let [best, distance] = [0, Number.POSITIVE_INFINITY];
  for (const [index, pair] of pairs.entries()) {
    const [from, to] = pair.kind === 'equal' ? pair[side] : [pair[side]?.seq, pair[side]?.seq];
    if (from === undefined || to === undefined) continue;
    const away = seq < from ? from - seq : seq > to ? seq - to : 0;
    if (away < distance) [best, distance] = [index, away];
  }
  return best;
}
