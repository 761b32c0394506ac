import { useState } from 'react';
import type { ValueDiff } from '../../../src/core/comparing/value-diff.ts';
import { isObject, type JsonValue } from '../../../src/core/json.ts';
import { plural } from '../../../src/wording/amount.ts';
import { short } from '../../../src/wording/event-gist.ts';
import { refOf, useStudio } from '../frame/studio.ts';
import { FoldSection } from '../parts/fold-section.tsx';
import { JsonTree } from '../parts/json-tree.tsx';
import { pathText as readablePath } from '../parts/path-text.ts';
import { Fading, Failure, Nothing, Reading } from '../parts/states.tsx';
import { useAnswer } from '../parts/use-answer.ts';
import type { KnownSection } from '../source/answers.ts';
import type { CutValue, PointName } from '../source/studio-source.ts';
import { BeliefsSection, isBeliefs } from './beliefs-section.tsx';
import type { ChangeThis } from './change-this.ts';
import { CodingSection, hasWork, isCoding } from './coding-section.tsx';
import { type ValuePath, When } from './value-history.tsx';

/** The properties of the panel. */
export interface KnewPanelProps {
  readonly point: PointName;
  readonly pin: PointName | undefined;
  readonly agents: readonly string[];
  readonly onGo: (seq: number) => void;
  readonly onChange: ChangeThis | undefined;
  /** Marks the points at which a value changed on the strip. */
  readonly onTicks: (seqs: readonly number[]) => void;
}

/** Everything that was known at a point: a section for each projection, with what changed. */
export function KnewPanel({ point, pin, agents, onGo, onChange, onTicks }: KnewPanelProps): React.ReactNode {
  const { source } = useStudio();
  const [eyes, setEyes] = useState('');
  const [followed, setFollowed] = useState<ValuePath>();
  const key = `knew ${refOf(point)} ${pin === undefined ? '' : refOf(pin)} ${eyes}`;
  const { value, error, isStale, again } = useAnswer(key, (signal) =>
    source.known(point, { since: pin, eyes }, signal),
  );
  if (error !== undefined) return <Failure error={error} onAgain={again} />;
  if (value === undefined) return <Reading />;
  const sections = ordered(value);
  return (
    <Fading isStale={isStale}>
      <div className="knew">
        <Eyes agents={everyAgent(agents, value)} eyes={eyes} onEyes={setEyes} />
        {sections.every(({ value: { projection } }) => projection === bookkeeping) ? (
          <Nothing>Nothing was kept up to here: no state, no beliefs, no metadata.</Nothing>
        ) : null}
        {followed === undefined ? null : (
          <When
            key={JSON.stringify(followed)}
            value={followed}
            point={point}
            onGo={onGo}
            onTicks={onTicks}
            onClose={() => setFollowed(undefined)}
          />
        )}
        {sections.map((section) => (
          <Section
            key={section.value.projection}
            section={section}
            seq={point.seq}
            onGo={onGo}
            onFollow={(path) => setFollowed({ projection: section.value.projection, path })}
            onChange={onChange}
          />
        ))}
      </div>
    </Fading>
  );
}

/** Chooses the agent through whose eyes state and beliefs are seen. */
function Eyes({
  agents,
  eyes,
  onEyes,
}: {
  readonly agents: readonly string[];
  readonly eyes: string;
  readonly onEyes: (agent: string) => void;
}): React.ReactNode {
  if (agents.length < 2 && eyes === '') return null;
  return (
    <label className="knew-eyes">
      <span className="label">through the eyes of</span>
      <select className="field" value={eyes} onChange={(event) => onEyes(event.target.value)}>
        <option value="">everyone</option>
        {agents.map((agent) => (
          <option key={agent}>{agent}</option>
        ))}
      </select>
    </label>
  );
}

/** Returns the agents of the history, and those that only committed beliefs. */
function everyAgent(agents: readonly string[], sections: readonly CutValue<KnownSection>[]): readonly string[] {
  const beliefs = sections.find(({ value: { projection } }) => projection === 'beliefs')?.value.value;
  const others = beliefs !== undefined && isBeliefs(beliefs) ? beliefs.flatMap(({ agent }) => agent ?? []) : [];
  return [...new Set([...agents, ...others])];
}

/** The projection that only counts what the other panels show: it is folded. */
const bookkeeping = 'runs';
const firstSections = ['state', 'beliefs', 'coding', 'graph', 'metadata', 'waiting'];

/** Puts what agents kept before what is known about their runs, and leaves out the work of sessions that are not about code. */
function ordered(sections: readonly CutValue<KnownSection>[]): readonly CutValue<KnownSection>[] {
  const place = ({ value: { projection } }: CutValue<KnownSection>): number => {
    const at = firstSections.indexOf(projection);
    return at < 0 ? firstSections.length : at;
  };
  return sections
    .filter(({ value: { projection, value } }) => projection !== 'coding' || !isCoding(value) || hasWork(value))
    .toSorted((a, b) => place(a) - place(b));
}

const pathText = (path: readonly (string | number)[]): string =>
  path.map((word) => `/${String(word).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

/** Returns the paths of values that differ, and of everything that contains them. */
function changedPaths(diff: ValueDiff): ReadonlySet<string> {
  const paths = new Set<string>();
  for (const { path } of [...diff.added, ...diff.changed])
    for (let length = 1; length <= path.length; length++) paths.add(pathText(path.slice(0, length)));
  return paths;
}

interface SectionProps {
  readonly section: CutValue<KnownSection>;
  readonly seq: number;
  readonly onGo: (seq: number) => void;
  readonly onFollow: (path: string) => void;
  readonly onChange: ChangeThis | undefined;
}

function Section({ section: { value: section, cuts }, seq, onGo, onFollow, onChange }: SectionProps): React.ReactNode {
  const { projection, about, changedHere, since } = section;
  const [isJson, setJson] = useState(false);
  const own = cuts.length === 0 ? ownView(section, seq, onGo) : undefined;
  if (projection === bookkeeping)
    return (
      <FoldSection title={projection} about={changesText(changedHere)}>
        <ValueTree section={section} cuts={cuts} onFollow={onFollow} onChange={onChange} />
      </FoldSection>
    );
  return (
    <section className="knew-section">
      <header title={about}>
        <h2>{projection}</h2>
        <ChangedChip diff={changedHere} isCounted={own === undefined} />
        {since === null || since.diff.identical ? null : (
          <span className="chip">
            {plural(since.diff.added.length + since.diff.removed.length + since.diff.changed.length, 'value')} since @
            {since.ref.split('@').at(-1)}
          </span>
        )}
        <span className="spacer" />
        {own === undefined ? null : (
          <>
            <button
              type="button"
              className="quiet"
              title="Every point at which this changed"
              onClick={() => onFollow('')}
            >
              when?
            </button>
            <button type="button" className="quiet" aria-pressed={isJson} onClick={() => setJson(!isJson)}>
              as JSON
            </button>
          </>
        )}
      </header>
      {own !== undefined && !isJson ? (
        own
      ) : (
        <ValueTree section={section} cuts={cuts} onFollow={onFollow} onChange={onChange} />
      )}
    </section>
  );
}

/** Returns the special view of a projection; undefined for those that are shown as JSON. */
function ownView({ projection, value }: KnownSection, seq: number, onGo: (seq: number) => void): React.ReactNode {
  if (projection === 'beliefs' && isBeliefs(value)) return <BeliefsSection beliefs={value} seq={seq} onGo={onGo} />;
  if (projection === 'coding' && isCoding(value)) return <CodingSection coding={value} onGo={onGo} />;
  return undefined;
}

/** Says that something changed here. The entries of a list move when one goes, so they are not counted. */
function ChangedChip({ diff, isCounted }: { readonly diff: ValueDiff; readonly isCounted: boolean }): React.ReactNode {
  if (countOf(diff) === 0) return null;
  return <span className="chip knew-changed">~ {isCounted ? changesText(diff) : 'changed here'}</span>;
}

const countOf = ({ added, removed, changed }: ValueDiff): number => added.length + removed.length + changed.length;

const changesText = (diff: ValueDiff): string =>
  countOf(diff) === 0 ? '' : `${plural(countOf(diff), 'value')} changed here`;

/** The value of a projection as a tree, with what changed marked and a way to see when. */
function ValueTree({
  section,
  cuts,
  onFollow,
  onChange,
}: Pick<SectionProps, 'onFollow' | 'onChange'> & {
  readonly section: KnownSection;
  readonly cuts: CutValue<KnownSection>['cuts'];
}): React.ReactNode {
  const { projection, changedHere } = section;
  const isState = projection === 'state';
  const storedPath = (path: string): string => (isState ? path.replace(/^(\/[^/]*\/[^/]*)/, '$1/value') : path);
  const changed = new Set(
    [...changedPaths(changedHere)].map((path) => (isState ? path.replace(/^(\/[^/]*\/[^/]*)\/value/, '$1') : path)),
  );
  const actions = (path: string, held: JsonValue): React.ReactNode => (
    <>
      <button
        type="button"
        className="quiet"
        title="Every point at which this changed"
        onClick={() => onFollow(storedPath(path))}
      >
        when?
      </button>
      {onChange === undefined || !isState ? null : <ChangeState path={path} value={held} onChange={onChange} />}
    </>
  );
  return (
    <>
      <ChangedHere diff={changedHere} isState={isState} />
      <JsonTree
        value={isState ? stateValues(section.value) : section.value}
        cuts={cuts}
        open={isState ? 4 : 1}
        actions={actions}
        changed={changed}
      />
    </>
  );
}

/** Returns the values of a state without their versions. */
function stateValues(state: JsonValue): JsonValue {
  if (!isObject(state)) return state;
  const values: Record<string, JsonValue> = {};
  for (const [agent, keys] of Object.entries(state))
    if (isObject(keys))
      values[agent] = Object.fromEntries(
        Object.entries(keys).map(([key, entry]) => [key, isObject(entry) ? (entry['value'] ?? null) : (entry ?? null)]),
      );
  return values;
}

const changesMax = 8;

/** The values that this event changed, old and new. */
function ChangedHere({
  diff: { changed, removed },
  isState,
}: {
  readonly diff: ValueDiff;
  readonly isState: boolean;
}): React.ReactNode {
  // A version and the seq of its event rise with every write.
  const real = isState ? changed.filter(({ path }) => path[2] === 'value') : changed;
  const shownPath = (path: readonly (string | number)[]): string =>
    readablePath(isState ? path.filter((_, at) => at !== 2) : [...path]);
  return (
    <>
      {real.slice(0, changesMax).map(({ path, left, right }) => (
        <p key={pathText(path)} className="knew-diff">
          <code>{shownPath(path)}</code> <del className="diff-out">{short(left)}</del>{' '}
          <ins className="diff-in">{short(right)}</ins>
        </p>
      ))}
      {removed.slice(0, changesMax).map(({ path, value: gone }) => (
        <p key={pathText(path)} className="knew-diff">
          <code>{shownPath(path)}</code> <del className="diff-out">{short(gone)}</del>
        </p>
      ))}
      {real.length > changesMax ? <p className="knew-diff faint">and more: they are marked below</p> : null}
      {removed.length > changesMax ? (
        <p className="knew-diff faint">and {removed.length - changesMax} more that are gone</p>
      ) : null}
    </>
  );
}

/** Offers to change a value of the state, whose path is `/agent/key`. */
function ChangeState({
  path,
  value,
  onChange,
}: {
  readonly path: string;
  readonly value: JsonValue;
  readonly onChange: ChangeThis;
}): React.ReactNode {
  const [, agent, key, ...more] = path.split('/').map((word) => word.replaceAll('~1', '/').replaceAll('~0', '~'));
  if (agent === undefined || key === undefined || more.length > 0) return null;
  return (
    <button
      type="button"
      className="quiet"
      title="Fork here with a different value"
      aria-label={`Change ${key}`}
      onClick={() => onChange({ kind: 'state', agent, key, value })}
    >
      ✎
    </button>
  );
}
