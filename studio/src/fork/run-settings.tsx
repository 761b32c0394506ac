import { useEffect } from 'react';
import { useStudio } from '../frame/studio.ts';
import { useAnswer } from '../parts/use-answer.ts';
import type { Draft } from './draft.ts';

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
        {number('modelCalls', 'model calls ≤')}
        {number('costUsd', 'US dollars ≤')}
        {number('minutes', 'minutes ≤')}
        {number('repeats', 'repeats')}
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
    </section>
  );
}
