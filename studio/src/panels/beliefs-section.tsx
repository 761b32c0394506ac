import type { Belief } from '../../../src/core/fleet/belief.ts';
import type { JsonValue } from '../../../src/core/json.ts';
import { short } from '../../../src/wording/event-gist.ts';
import { RecordedText } from '../parts/recorded-text.tsx';
import { SeqLink } from '../parts/seq-link.tsx';

/** The claims on one topic. */
export interface Topic {
  /** Undefined for claims about everything. */
  readonly topic: string | undefined;
  readonly beliefs: readonly Belief[];
}

/** Returns true if a value of the projection `beliefs` can be shown as claims; a very long one was cut. */
export function isBeliefs(value: JsonValue): value is JsonValue & readonly (JsonValue & Belief)[] {
  return (
    Array.isArray(value) &&
    value.every((each) => typeof each === 'object' && each !== null && 'claim' in each && 'seq' in each)
  );
}

/** Puts claims on the same topic together, in the order in which the topics came up. */
export function byTopic(beliefs: readonly Belief[]): readonly Topic[] {
  const topics = new Map<string | undefined, Belief[]>();
  for (const belief of beliefs) {
    const known = topics.get(belief.topic);
    if (known === undefined) topics.set(belief.topic, [belief]);
    else known.push(belief);
  }
  return [...topics].map(([topic, held]) => ({ topic, beliefs: held }));
}

/** The claims that stand at a point, by topic: what is claimed, by whom, and how far it is trusted. */
export function BeliefsSection({
  beliefs,
  seq,
  onGo,
}: {
  readonly beliefs: readonly Belief[];
  /** The selected point: claims that were made there are marked. */
  readonly seq: number;
  readonly onGo: (seq: number) => void;
}): React.ReactNode {
  if (beliefs.length === 0) return <p className="faint">No claim stands here.</p>;
  return (
    <dl className="beliefs" data-part="beliefs">
      {byTopic(beliefs).map(({ topic, beliefs: held }) => (
        <div key={topic ?? ''} className="beliefs-topic">
          <dt>{topic === undefined ? <span className="faint">everything</span> : <RecordedText text={topic} />}</dt>
          {held.map((belief) => (
            <BeliefRow key={belief.id} belief={belief} isNew={belief.seq === seq} onGo={onGo} />
          ))}
        </div>
      ))}
    </dl>
  );
}

function BeliefRow({
  belief,
  isNew,
  onGo,
}: {
  readonly belief: Belief;
  readonly isNew: boolean;
  readonly onGo: (seq: number) => void;
}): React.ReactNode {
  const { claim, kind, value, agent, trust, seq } = belief;
  return (
    <dd data-new={isNew || undefined}>
      <span className="beliefs-mark" title={isNew ? 'made here' : undefined}>
        {isNew ? '+' : ''}
      </span>
      <span className="beliefs-claim">
        {belief.erased === true ? <span className="faint">▒ erased</span> : <RecordedText text={claim} />}
        {value === undefined ? null : <code className="beliefs-value">{short(value)}</code>}
      </span>
      <span className="beliefs-end">
        <span className="chip">{kind}</span>
        {belief.mutates === true ? <span className="chip">what-if</span> : null}
        {belief.unsettled === true ? <span className="chip">not settled</span> : null}
        {trust === 1 ? null : <span className="faint">trusted {Math.round(trust * 100)} %</span>}
        {agent === undefined ? null : <span className="dim">{agent}</span>}
        <SeqLink seq={seq} onGo={onGo} />
      </span>
    </dd>
  );
}
