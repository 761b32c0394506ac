import { useState } from 'react';
import type { JsonValue } from '../../../src/core/json.ts';
import { countText } from '../../../src/wording/amount.ts';
import { refOf, useStudio } from '../frame/studio.ts';
import { lookOf } from '../look/glyphs.ts';
import { Icon } from '../look/icon.tsx';
import { FoldSection } from '../parts/fold-section.tsx';
import { JsonTree } from '../parts/json-tree.tsx';
import { RecordedText } from '../parts/recorded-text.tsx';
import { Fading, Failure, Nothing, Reading } from '../parts/states.tsx';
import { useAnswer } from '../parts/use-answer.ts';
import { useThrottled } from '../parts/use-throttled.ts';
import type { EventLine } from '../source/answers.ts';
import type { PointName } from '../source/studio-source.ts';

/** The properties of the panel. */
export interface WhyPanelProps {
  readonly point: PointName;
  readonly head: number;
  readonly onGo: (seq: number) => void;
  readonly onForkAt: ((seq: number) => void) | undefined;
}

/** How often the consequences are read again while the history grows. */
const grownMs = 2_000;

/** Why an event happened: its causes up to the first, what followed from it, and where its run went wrong. */
export function WhyPanel({ point, head, onGo, onForkAt }: WhyPanelProps): React.ReactNode {
  const { source } = useStudio();
  // A history that grows has more that followed.
  const until = useThrottled(head, grownMs);
  const key = point.seq === 0 ? undefined : `why ${refOf(point)} ${until}`;
  const { value, error, isStale, again } = useAnswer(key, (signal) => source.causes(point, signal));
  if (point.seq === 0) return <Nothing>The beginning has no cause.</Nothing>;
  if (error !== undefined) return <Failure error={error} onAgain={again} />;
  if (value === undefined) return <Reading />;
  const { causes, consequences, firstError, decidedBy, forkAt, hasMore } = value;
  const forkSeq = forkAt === null ? undefined : Number(forkAt.split('@').at(-1));
  return (
    <Fading isStale={isStale}>
      <div className="why">
        {firstError === null ? null : (
          <section className="why-wrong">
            <h2>Where it went wrong</h2>
            <Line line={firstError} onGo={onGo} note="the first error of this run" />
            {decidedBy === null ? null : <Line line={decidedBy} onGo={onGo} note="the model call that decided it" />}
            {forkSeq === undefined || Number.isNaN(forkSeq) || onForkAt === undefined ? null : (
              <button type="button" className="button" onClick={() => onForkAt(forkSeq)}>
                <Icon name="fork" /> Fork before it, at @{forkSeq}
              </button>
            )}
          </section>
        )}
        <section>
          <h2>Because of</h2>
          {causes.length === 0 ? <p className="faint">Nothing recorded led to it.</p> : null}
          <ol className="why-up">
            {[...causes].reverse().map((line, at) => (
              <li key={line.seq} data-depth={Math.min(at, 6)}>
                <Line line={line} onGo={onGo} />
              </li>
            ))}
            <li data-depth={Math.min(causes.length, 6)} className="why-here">
              <Line line={value.event} onGo={onGo} />
            </li>
          </ol>
        </section>
        <section>
          <h2>
            Led to{' '}
            <span className="faint">
              ({countText(consequences.length)}
              {hasMore ? ' and more' : ''})
            </span>
          </h2>
          {consequences.length === 0 ? <p className="faint">Nothing recorded followed from it.</p> : null}
          <ol className="why-down">
            {consequences.map((line) => (
              <li key={line.seq} data-depth={Math.min(line.depth - 1, 6)}>
                <Line line={line} onGo={onGo} />
              </li>
            ))}
          </ol>
        </section>
        <Without point={point} head={head} />
      </div>
    </Fading>
  );
}

/** One event as a line that goes there. */
export function Line({
  line,
  onGo,
  note,
}: {
  readonly line: EventLine;
  readonly onGo: (seq: number) => void;
  readonly note?: string;
}): React.ReactNode {
  const kind = line.type.startsWith('call.') && line.gist.startsWith('model ') ? 'model' : 'tool';
  const look = lookOf(line.type, kind);
  return (
    <button type="button" className="event-line" onClick={() => onGo(line.seq)}>
      <span className="mono faint event-line-seq">{line.seq}</span>
      <span className={`color-${look.hue}`}>{look.glyph}</span>
      <span className="event-line-type">{line.type.replace('.', ' ')}</span>
      <span className="dim event-line-gist">
        <RecordedText text={line.gist.replace(/(^| {2})0ms(?= {2}|$)/, '')} />
      </span>
      {note === undefined ? null : <span className="chip">{note}</span>}
    </button>
  );
}

const looked = ['conversation', 'state'] as const;

/** The look without this event: what would be known at the end if it had not happened. Nothing is written. */
function Without({ point, head }: { readonly point: PointName; readonly head: number }): React.ReactNode {
  const [isOpen, setOpen] = useState(false);
  return (
    <FoldSection title="Without this event" about="a look; nothing is written" onOpen={() => setOpen(true)}>
      {isOpen
        ? looked.map((projection) => (
            <WithoutValue key={projection} point={point} head={head} projection={projection} />
          ))
        : null}
    </FoldSection>
  );
}

function WithoutValue({
  point,
  head,
  projection,
}: {
  readonly point: PointName;
  readonly head: number;
  readonly projection: string;
}): React.ReactNode {
  const { source } = useStudio();
  const { value, error } = useAnswer(`without ${refOf(point)} ${head} ${projection}`, (signal) =>
    source.counterfactual({ ...point, seq: head }, point.seq, projection, signal),
  );
  if (error !== undefined) return <Failure error={error} />;
  return value === undefined ? null : <JsonTree value={{ [projection]: value as JsonValue }} open={2} />;
}
