import { useEffect } from 'react';
import { countText } from '../../../src/wording/amount.ts';
import { short } from '../../../src/wording/event-gist.ts';
import { refOf, useStudio } from '../frame/studio.ts';
import { RecordedText } from '../parts/recorded-text.tsx';
import { SeqLink } from '../parts/seq-link.tsx';
import { Failure } from '../parts/states.tsx';
import { useAnswer } from '../parts/use-answer.ts';
import type { PointName } from '../source/studio-source.ts';

/** A value of a projection: which one, and where in it. */
export interface ValuePath {
  readonly projection: string;
  readonly path: string;
}

/** The properties of the list. */
export interface WhenProps {
  readonly value: ValuePath;
  readonly point: PointName;
  readonly onGo: (seq: number) => void;
  readonly onTicks: (seqs: readonly number[]) => void;
  readonly onClose: () => void;
}

/** Every point at which a value changed, as a list; and as marks on the strip. */
export function When({ value: { projection, path }, point, onGo, onTicks, onClose }: WhenProps): React.ReactNode {
  const { source } = useStudio();
  const { value, error } = useAnswer(
    `when ${refOf(point)} ${projection} ${path}`,
    async (signal) => {
      const page = await source.changes(point, projection, path, '', signal);
      onTicks(page.items.map(({ seq }) => seq));
      return page;
    },
    { keep: false },
  );
  // The marks go with the list, even when a different panel is opened.
  useEffect(() => () => onTicks([]), []);
  return (
    <section className="knew-when" aria-label="When it changed">
      <header>
        <h2>
          When <code>{path === '' ? projection : path}</code> changed{' '}
          {value === undefined ? (
            ''
          ) : (
            <span className="faint">
              ({countText(value.items.length)}
              {value.cursor === '' ? '' : ' and more'})
            </span>
          )}
        </h2>
        <span className="spacer" />
        <button type="button" className="quiet" aria-label="Close" onClick={onClose}>
          ✕
        </button>
      </header>
      {error === undefined ? null : <Failure error={error} />}
      <ol>
        {value?.items.map(({ seq, before, after, time, agent }) => (
          <li key={seq}>
            <SeqLink seq={seq} onGo={onGo} />
            <span className="faint mono">{time.slice(11, 23)}</span>
            <span className="dim">{agent ?? ''}</span>
            <span>
              {before === undefined ? null : (
                <del className="diff-out">
                  <RecordedText text={short(before)} />
                </del>
              )}{' '}
              {after === undefined ? (
                <span className="faint">removed</span>
              ) : (
                <ins className="diff-in">
                  <RecordedText text={short(after)} />
                </ins>
              )}
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}
