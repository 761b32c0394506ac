import { useEffect, useMemo } from 'react';
import { runAddress } from '../address/address.ts';
import { useStudio } from '../frame/studio.ts';
import { spokenRow } from '../list/event-list.tsx';
import { useCell } from '../parts/cell.ts';
import type { StudioBranch } from '../source/answers.ts';
import type { BranchName } from '../source/studio-source.ts';
import type { ForkMark } from '../strip/scene.ts';
import { Strip } from '../strip/strip.tsx';

/** The most height of the lanes of the original, in pixels. */
const lanesMax = 40;

/** The strip of the branch that a run was forked from, next to the run: what the original did after the same point. */
export function OriginalStrip({
  name,
  parent,
}: {
  readonly name: BranchName;
  readonly parent: NonNullable<StudioBranch['parent']>;
}): React.ReactNode {
  const studio = useStudio();
  const original = useMemo(() => ({ ...name, branch: parent.branch }), [name, parent.branch]);
  const { history } = useMemo(() => studio.open(original, parent.seq), [studio, original]);
  const { version } = useCell(history.progress);
  useEffect(() => studio.show([name, original]), [studio, name, original]);
  const forks = useMemo((): readonly ForkMark[] => [{ seq: parent.seq, branch: name.branch }], [name, parent.seq]);
  return (
    <div className="run-strip run-original" data-part="original">
      <p className="strip-name faint">the original, {parent.branch}</p>
      <Strip
        index={history.index}
        version={version}
        scale="time"
        range={undefined}
        selected={parent.seq}
        pinned={undefined}
        isMatch={undefined}
        ticks={[]}
        forks={forks}
        lanesMax={lanesMax}
        label={`The strip of the original, ${parent.branch}`}
        spoken={`${parent.branch} ${spokenRow(history.index, parent.seq)}`}
        onSelect={(seq) => studio.bar.go(runAddress(name.session, parent.branch, seq))}
        onHover={() => undefined}
        onRange={() => undefined}
      />
    </div>
  );
}
