import { RepriseError } from '../../../src/core/error.ts';
import type { Edit } from '../../../src/core/view/edit.ts';
import { plural } from '../../../src/wording/amount.ts';
import { short } from '../../../src/wording/event-gist.ts';
import { refOf, useStudio } from '../frame/studio.ts';
import { Line } from '../panels/why-panel.tsx';
import { FoldSection } from '../parts/fold-section.tsx';
import { RecordedText } from '../parts/recorded-text.tsx';
import { Fading, Failure } from '../parts/states.tsx';
import { useAnswer } from '../parts/use-answer.ts';
import type { EditPreview, EventLine } from '../source/answers.ts';
import type { PointName } from '../source/studio-source.ts';
import type { Draft } from './draft.ts';

/** The properties of a preview. */
export interface PreviewProps {
  readonly point: PointName;
  readonly draft: Draft;
  readonly edits: readonly Edit[];
  readonly children: (preview: EditPreview) => React.ReactNode;
}

/** The effect of the edits before they are made: events that go with them, events that depended on them, edits that cannot be applied. */
export function Preview({ point, draft, edits, children }: PreviewProps): React.ReactNode {
  const { source } = useStudio();
  const effects = draft.effects === '' ? undefined : draft.effects;
  const { value, error, isStale } = useAnswer(`preview ${refOf(point)} ${JSON.stringify([edits, effects])}`, (signal) =>
    source.previewEdits(point, edits, effects, signal),
  );
  if (error !== undefined) return <Failure error={error} />;
  if (value === undefined) return null;
  return (
    <Fading isStale={isStale}>
      {value.refused === null ? null : (
        <div className="edit-refused">
          <p className="label">edit {value.refused.edit + 1}</p>
          <Failure error={RepriseError.from(value.refused.error)} />
        </div>
      )}
      <Gone title="Goes with it" lines={value.gone} count={value.counts.gone} />
      <Gone
        title="Left in place, although it depended on it"
        lines={value.dependents}
        count={value.counts.dependents}
      />
      {children(value)}
    </Fading>
  );
}

function Gone({
  title,
  lines,
  count,
}: {
  readonly title: string;
  readonly lines: readonly EventLine[];
  readonly count: number;
}): React.ReactNode {
  if (count === 0) return null;
  return (
    <FoldSection title={title} about={plural(count, 'event')}>
      {lines.map((line) => (
        <Line key={line.seq} line={line} onGo={() => undefined} />
      ))}
    </FoldSection>
  );
}

const fates: Readonly<Record<EditPreview['calls'][number]['fate'], { readonly words: string; readonly hue: string }>> =
  {
    made: { words: 'runs again', hue: 'dim' },
    answered: { words: 'answered from the record', hue: 'ok' },
    simulated: { words: 'simulated', hue: 'ok' },
    asked: { words: 'asks you', hue: 'person' },
    refused: { words: 'refused', hue: 'error' },
  };

interface ForeseenProps {
  readonly preview: EditPreview;
  readonly simulate: readonly string[];
  readonly onSimulate: (names: readonly string[]) => void;
  readonly mayRun: boolean;
}

/** The recorded calls after the point, and what becomes of each if it is run. */
export function Foreseen({
  preview: { calls, otherwise, cannotRun },
  simulate,
  onSimulate,
  mayRun,
}: ForeseenProps): React.ReactNode {
  const named = [
    ...new Set(
      [...calls.filter(({ effect }) => effect !== 'pure'), ...otherwise.filter(({ effect }) => effect !== 'pure')].map(
        ({ name }) => name,
      ),
    ),
  ];
  const toggle = (name: string): void =>
    onSimulate(simulate.includes(name) ? simulate.filter((each) => each !== name) : [...simulate, name]);
  return (
    <section aria-label="Before it runs">
      <h3>Before it runs</h3>
      {cannotRun === null ? null : <Failure error={RepriseError.from(cannotRun)} />}
      {calls.length === 0 ? (
        <p className="faint">The original made no calls after this point that have an effect.</p>
      ) : null}
      <ul className="fates">
        {calls.map((call) => {
          const isSimulated = simulate.includes(call.name);
          const fate = fates[isSimulated ? 'simulated' : call.fate];
          return (
            <li key={`${call.ref} ${call.name}`} data-part="fate">
              <span className="color-tool">⚙</span>
              <span className="fate-call">
                {call.name}(<RecordedText text={short(call.input ?? undefined)} />)
              </span>
              <span className="faint">
                {call.from === 'pending' ? 'decided at' : 'made at'}{' '}
                {call.ref.split('@').at(-1) === undefined ? '' : `@${call.ref.split('@').at(-1)}`}, {call.effect}
              </span>
              <span className={`fate-end color-${fate.hue}`}>→ {fate.words}</span>
            </li>
          );
        })}
      </ul>
      {otherwise.length === 0 ? null : (
        <p className="faint fate-other">
          Called with other arguments:{' '}
          {otherwise
            .map(({ name, fate }) => `${name} ${fates[simulate.includes(name) ? 'simulated' : fate].words}`)
            .join(', ')}
        </p>
      )}
      {!mayRun || named.length === 0 ? null : (
        <p className="fate-simulate">
          <span className="label">simulate</span>{' '}
          {named.map((name) => (
            <label key={name}>
              <input type="checkbox" checked={simulate.includes(name)} onChange={() => toggle(name)} /> {name}
            </label>
          ))}
        </p>
      )}
    </section>
  );
}
