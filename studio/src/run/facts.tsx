import { useMemo } from 'react';
import { bytesText, costText, countText, durationText, plural } from '../../../src/wording/amount.ts';
import { refOf, useStudio } from '../frame/studio.ts';
import type { EventIndex } from '../history/event-index.ts';
import { lookOf, lookOfOutcome } from '../look/glyphs.ts';
import { contextKey } from '../panels/context-key.ts';
import { Digest } from '../panels/raw-panel.tsx';
import { SeqLink } from '../parts/seq-link.tsx';
import { useAnswer } from '../parts/use-answer.ts';
import type { ContextAnswer } from '../source/answers.ts';
import type { PointName } from '../source/studio-source.ts';
import { clockText } from '../strip/ruler.ts';
import type { ForkMark } from '../strip/scene.ts';
import { sumsOf } from './range-sums.ts';

/** The properties of the facts. */
export interface FactsProps {
  readonly index: EventIndex;
  readonly version: number;
  readonly point: PointName;
  readonly range: readonly [number, number] | undefined;
  readonly forks: readonly ForkMark[];
  readonly onGo: (seq: number) => void;
  readonly onBranch: (branch: string) => void;
}

/** The facts of the selected event: what it is, how long it took, what it cost, what it came from and led to. */
export function Facts({ index, version, point, range, forks, onGo, onBranch }: FactsProps): React.ReactNode {
  const { seq } = point;
  const call = index.callOf(seq);
  const end = call === undefined ? undefined : index.endOf(call);
  const about = call ?? seq;
  const [type, name] = [index.word('type', about), index.word('name', about)];
  const look = lookOf(type, index.word('kind', about));
  const outcome = index.word('outcome', end ?? seq);
  const here = forks.filter((fork) => fork.seq === seq);
  if (seq === 0)
    return (
      <aside className="facts" aria-label="Facts">
        <p className="facts-name">the beginning</p>
      </aside>
    );
  if (!index.has(seq))
    return (
      <aside className="facts" aria-label="Facts" data-part="facts">
        <p className="faint">Loading this event…</p>
      </aside>
    );
  return (
    <aside className="facts" aria-label="Facts" data-part="facts">
      <p className="facts-name">
        <span className={`color-${look.hue}`}>{look.glyph}</span> {name || type}
      </p>
      <p className="faint">
        {name === '' && look.word === type.replace('.', ' ') ? '' : look.word}
        {index.word('effect', about) === '' || index.word('effect', about) === 'unknown'
          ? ''
          : `, ${index.word('effect', about)}`}
      </p>
      {outcome === '' ? null : (
        <p className={`color-${lookOfOutcome(outcome).hue}`}>
          {lookOfOutcome(outcome).glyph} {outcome}
        </p>
      )}
      {index.hasFlag(seq, 'erased') ? (
        <p className="color-warning">▒ Its payload was erased; its digest is kept.</p>
      ) : null}
      <Usage index={index} end={end} />
      {index.word('kind', about) === 'model' && call !== undefined ? (
        <Window index={index} point={{ ...point, seq: call }} />
      ) : null}
      <dl className="facts-list">
        <Row name="agent">{index.word('agent', seq) || '–'}</Row>
        <Row name="turn">{index.columns.turn[seq]}</Row>
        <Row name="time">
          <span title={new Date(index.columns.time[seq] ?? 0).toISOString()}>
            {clockText(index.columns.time[seq] ?? 0, 1)}
          </span>
        </Row>
        <Links index={index} version={version} seq={seq} onGo={onGo} />
        {here.length === 0 ? null : (
          <Row name="forks here">
            {here.map(({ branch }) => (
              <button key={branch} type="button" className="link" onClick={() => onBranch(branch)}>
                {branch}
              </button>
            ))}
          </Row>
        )}
      </dl>
      <EventDigest point={point} />
      {range === undefined ? null : <RangeFacts index={index} range={range} />}
    </aside>
  );
}

function Row({ name, children }: { readonly name: string; readonly children: React.ReactNode }): React.ReactNode {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Usage({ index, end }: { readonly index: EventIndex; readonly end: number | undefined }): React.ReactNode {
  if (end === undefined) return null;
  const { inputTokens, outputTokens, cachedTokens } = index.columns;
  const [input, output, cached] = [inputTokens[end] ?? 0, outputTokens[end] ?? 0, cachedTokens[end] ?? 0];
  const [took, first, cost] = [
    index.number('latencyMs', end),
    index.number('firstTokenMs', end),
    index.number('cost', end),
  ];
  const most = Math.max(input, output, 1);
  return (
    <div className="facts-usage">
      {took === undefined ? null : (
        <p>
          {durationText(took)}
          {first === undefined ? '' : <span className="faint"> · first token {durationText(first)}</span>}
        </p>
      )}
      {input + output === 0 ? null : (
        <>
          <Meter label="tokens in" count={input} part={input / most} inner={cached / most} />
          <Meter label="tokens out" count={output} part={output / most} />
          <p className="faint">
            {cost === undefined ? 'no price known' : costText(cost)}
            {cached > 0 ? ` · ${countText(cached)} cached` : ''}
          </p>
        </>
      )}
    </div>
  );
}

/** A number with a bar of its size. */
function Meter({
  label,
  count,
  part,
  inner = 0,
}: {
  readonly label: string;
  readonly count: number;
  readonly part: number;
  readonly inner?: number;
}): React.ReactNode {
  return (
    <div className="meter">
      <span className="faint">{label}</span>
      <span className="mono">{countText(count)}</span>
      <svg className="meter-bar" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
        <rect className="meter-all" width={Math.max(1, part * 100)} height="6" />
        <rect className="meter-inner" width={inner * 100} height="6" />
      </svg>
    </div>
  );
}

const kinds = [
  'system',
  'tools',
  'user',
  'assistant',
  'results',
  'other',
] as const satisfies readonly (keyof ContextAnswer['sizes'])[];

/** The content of a model call's context, by kind. */
function Window({ index, point }: { readonly index: EventIndex; readonly point: PointName }): React.ReactNode {
  const { source } = useStudio();
  const { value } = useAnswer(contextKey(point, index, undefined), (signal) => source.context(point, {}, signal));
  if (value === undefined) return null;
  const { sizes } = value.value;
  const all = kinds.reduce((sum, kind) => sum + sizes[kind], 0);
  if (all === 0) return null;
  let at = 0;
  return (
    <div className="facts-window">
      <p className="label">context, {bytesText(all)}</p>
      <svg
        className="window-bar"
        viewBox="0 0 100 8"
        preserveAspectRatio="none"
        role="img"
        aria-label={kinds.map((kind) => `${kind} ${Math.round((sizes[kind] / all) * 100)} %`).join(', ')}
      >
        {kinds.map((kind) => {
          const wide = (sizes[kind] / all) * 100;
          const rect = <rect key={kind} className={`window-${kind}`} x={at} width={wide} height="8" />;
          at += wide;
          return rect;
        })}
      </svg>
      <ul className="window-legend">
        {kinds
          .filter((kind) => sizes[kind] > 0)
          .map((kind) => (
            <li key={kind}>
              <span className={`window-dot window-${kind}`} /> {kind}{' '}
              <span className="faint">{Math.round((sizes[kind] / all) * 100)} %</span>
            </li>
          ))}
      </ul>
    </div>
  );
}

const linksMax = 6;

function Links({
  index,
  version,
  seq,
  onGo,
}: {
  readonly index: EventIndex;
  readonly version: number;
  readonly seq: number;
  readonly onGo: (seq: number) => void;
}): React.ReactNode {
  const cause = index.columns.cause[seq] ?? 0;
  const led = useMemo(() => {
    const found: number[] = [];
    const { cause: causes } = index.columns;
    for (let at = seq + 1; at <= index.head && found.length <= linksMax; at++) if (causes[at] === seq) found.push(at);
    return found;
  }, [index, version, seq]);
  return (
    <>
      {cause === 0 ? null : (
        <Row name="caused by ↑">
          <SeqLink seq={cause} onGo={onGo} />
        </Row>
      )}
      {led.length === 0 ? null : (
        <Row name="led to ↓">
          {led.slice(0, linksMax).map((each) => (
            <SeqLink key={each} seq={each} onGo={onGo} />
          ))}
          {led.length > linksMax ? <span className="faint">…</span> : null}
        </Row>
      )}
    </>
  );
}

function EventDigest({ point }: { readonly point: PointName }): React.ReactNode {
  const { source } = useStudio();
  const { namespace, session, branch, seq } = point;
  // The place of an event has its digest too, and is found without its payload.
  const { value } = useAnswer(`place ${refOf(point)}`, (signal) =>
    source.locate(namespace, session, `${encodeURIComponent(branch)}@${seq}`, signal),
  );
  return value === undefined ? null : <Digest digest={value.digest} />;
}

function RangeFacts({
  index,
  range,
}: {
  readonly index: EventIndex;
  readonly range: readonly [number, number];
}): React.ReactNode {
  const sums = sumsOf(index, range);
  return (
    <section className="facts-range" aria-label="The stretch on screen">
      <p className="label">
        on screen, {range[0]}–{range[1]}
      </p>
      <p>
        {plural(sums.events, 'event')}, {plural(sums.calls, 'call')}
      </p>
      <p className="faint">
        {countText(sums.inputTokens)} tokens in, {countText(sums.outputTokens)} out
        {sums.cost === undefined ? '' : `, ${costText(sums.cost)}`}
      </p>
      <p className="faint">
        models {durationText(sums.modelMs)}, tools {durationText(sums.toolMs)}, idle {durationText(sums.idleMs)}
      </p>
    </section>
  );
}
