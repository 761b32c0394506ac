import { useEffect } from 'react';
import { plural } from '../../../src/wording/amount.ts';
import { useStudio } from '../frame/studio.ts';
import { FoldSection } from '../parts/fold-section.tsx';
import { useAnswer } from '../parts/use-answer.ts';
import { type Draft, setAside, variantsOf } from './draft.ts';

const policies: readonly (readonly [value: string, words: string])[] = [
  ['', 'as the agent says'],
  ['ask', 'ask about each effect'],
  ['once', 'make what was never made'],
  ['reuse', 'reuse what was made'],
  ['refuse', 'refuse every effect'],
  ['run', 'make every call'],
];

/** How to run it: with which agent, within which limits, and what happens to calls that have an effect. */
export function RunSettings({
  draft,
  onDraft,
}: {
  readonly draft: Draft;
  readonly onDraft: (part: Partial<Draft>) => void;
}): React.ReactNode {
  const { source } = useStudio();
  const { value: agents } = useAnswer('agents', (signal) => source.agents(signal), { keep: false });
  useEffect(() => {
    const [only] = agents ?? [];
    if (draft.agent === '' && only !== undefined) onDraft({ agent: only.name });
  }, [agents]);
  const number = (name: 'modelCalls' | 'costUsd' | 'minutes' | 'repeats', label: string): React.ReactNode => (
    <label>
      <span className="label">{label}</span>
      <input
        className="field field-small"
        inputMode="decimal"
        value={draft[name]}
        onChange={(event) => onDraft({ [name]: event.target.value })}
      />
    </label>
  );
  return (
    <section aria-label="How to run it" className="run-settings">
      <h3>Run it</h3>
      <div className="run-fields">
        <label>
          <span className="label">with</span>
          <select className="field" value={draft.agent} onChange={(event) => onDraft({ agent: event.target.value })}>
            {agents?.map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        {number('modelCalls', 'max. model calls')}
        {number('costUsd', 'max. US dollars')}
        {number('minutes', 'max. minutes')}
        <label>
          <span className="label">calls with an effect</span>
          <select
            className="field"
            value={draft.effects}
            onChange={(event) => onDraft({ effects: event.target.value })}
          >
            {policies.map(([value, words]) => (
              <option key={value} value={value}>
                {words}
              </option>
            ))}
          </select>
        </label>
      </div>
      <FoldSection
        title="As an experiment"
        about={`${plural(variantsOf(draft).length, 'variant')} × ${draft.repeats || '1'}`}
      >
        <div className="run-fields">
          {number('repeats', 'repeats')}
          <label className="run-expects">
            <span className="label">passes if the answer says</span>
            <input
              className="field"
              value={draft.expects}
              placeholder="anything"
              onChange={(event) => onDraft({ expects: event.target.value })}
            />
          </label>
        </div>
        <p className="run-variants">
          <span className="label">variants</span>{' '}
          {variantsOf(draft).map(({ name, edits = [] }, at) => (
            <span key={`${at} ${name}`} className="chip">
              {name}
              {edits.length === 0 ? '' : `, ${plural(edits.length, 'edit')}`}
              {draft.variants[at - 1] === undefined ? null : (
                <button
                  type="button"
                  className="quiet"
                  aria-label={`Take back variant ${name}`}
                  onClick={() => onDraft({ variants: draft.variants.filter((_, index) => index !== at - 1) })}
                >
                  ✕
                </button>
              )}
            </span>
          ))}
          {draft.edits.length === 0 ? null : (
            <button type="button" className="quiet" onClick={() => onDraft(setAside(draft))}>
              + one more variant
            </button>
          )}
        </p>
      </FoldSection>
    </section>
  );
}
