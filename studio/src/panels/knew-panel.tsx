import { useState } from 'react';
import type { ValueDiff } from '../../../src/core/comparing/value-diff.ts';
import { isObject, type JsonValue } from '../../../src/core/json.ts';
import { countText, plural } from '../../../src/wording/amount.ts';
import { short } from '../../../src/wording/event-gist.ts';
import { refOf, useStudio } from '../frame/studio.ts';
import { JsonTree } from '../parts/json-tree.tsx';
import { pathText as readablePath } from '../parts/path-text.ts';
import { RecordedText } from '../parts/recorded-text.tsx';
import { Fading, Failure, Nothing } from '../parts/states.tsx';
import { useAnswer } from '../parts/use-answer.ts';
import type { KnownSection } from '../source/answers.ts';
import type { CutValue, PointName } from '../source/studio-source.ts';
import type { ChangeThis } from './change-this.ts';
import { SeqLink } from './context-panel.tsx';

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

/** A value of a projection: which one, and where in it. */
interface ValuePath {
  readonly projection: string;
  readonly path: string;
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
  if (value === undefined) return null;
  return (
    <Fading isStale={isStale}>
      <div className="knew">
        {agents.length > 1 ? (
          <label className="knew-eyes">
            <span className="label">through the eyes of</span>
            <select className="field" value={eyes} onChange={(event) => setEyes(event.target.value)}>
              <option value="">everyone</option>
              {agents.map((agent) => (
                <option key={agent}>{agent}</option>
              ))}
            </select>
          </label>
        ) : null}
        {value.length === 0 ? <Nothing>Nothing was kept up to here: no state, no tasks, no metadata.</Nothing> : null}
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
        {ordered(value).map((section) => (
          <Section
            key={section.value.projection}
            section={section}
            onFollow={(path) => setFollowed({ projection: section.value.projection, path })}
            onChange={onChange}
          />
        ))}
      </div>
    </Fading>
  );
}

const firstSections = ['state', 'beliefs', 'metadata', 'waiting'];

/** Puts what agents kept before what is known about their runs. */
function ordered(sections: readonly CutValue<KnownSection>[]): readonly CutValue<KnownSection>[] {
  const place = ({ value: { projection } }: CutValue<KnownSection>): number => {
    const at = firstSections.indexOf(projection);
    return at < 0 ? firstSections.length : at;
  };
  return sections.toSorted((a, b) => place(a) - place(b));
}

const pathText = (path: readonly (string | number)[]): string =>
  path.map((word) => `/${String(word).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

/** Returns the paths of values that differ, and of everything that holds them. */
function changedPaths(diff: ValueDiff): ReadonlySet<string> {
  const paths = new Set<string>();
  for (const { path } of [...diff.added, ...diff.changed])
    for (let length = 1; length <= path.length; length++) paths.add(pathText(path.slice(0, length)));
  return paths;
}

interface SectionProps {
  readonly section: CutValue<KnownSection>;
  readonly onFollow: (path: string) => void;
  readonly onChange: ChangeThis | undefined;
}

function Section({ section: { value: section, cuts }, onFollow, onChange }: SectionProps): React.ReactNode {
  const { projection, about, changedHere, since } = section;
  const count = changedHere.added.length + changedHere.removed.length + changedHere.changed.length;
  const shown = projection === 'state' ? stateValues(section.value) : section.value;
  const storedPath = (path: string): string =>
    projection === 'state' ? path.replace(/^(\/[^/]*\/[^/]*)/, '$1/value') : path;
  const changed = new Set(
    [...changedPaths(changedHere)].map((path) =>
      projection === 'state' ? path.replace(/^(\/[^/]*\/[^/]*)\/value/, '$1') : path,
    ),
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
      {onChange === undefined || projection !== 'state' ? null : (
        <ChangeState path={path} value={held} onChange={onChange} />
      )}
    </>
  );
  return (
    <section className="knew-section">
      <header title={about}>
        <h2>{projection}</h2>
        {count === 0 ? null : <span className="chip knew-changed">~ {plural(count, 'value')} changed here</span>}
        {since === null || since.diff.identical ? null : (
          <span className="chip">
            {plural(since.diff.added.length + since.diff.removed.length + since.diff.changed.length, 'value')} since @
            {since.ref.split('@').at(-1)}
          </span>
        )}
      </header>
      <ChangedHere diff={changedHere} isState={projection === 'state'} />
      <JsonTree value={shown} cuts={cuts} open={projection === 'state' ? 4 : 1} actions={actions} changed={changed} />
    </section>
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

interface WhenProps {
  readonly value: ValuePath;
  readonly point: PointName;
  readonly onGo: (seq: number) => void;
  readonly onTicks: (seqs: readonly number[]) => void;
  readonly onClose: () => void;
}

/** Every point at which a value changed, as a list; and as marks on the strip. */
function When({ value: { projection, path }, point, onGo, onTicks, onClose }: WhenProps): React.ReactNode {
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
        <button
          type="button"
          className="quiet"
          aria-label="Close"
          onClick={() => {
            onTicks([]);
            onClose();
          }}
        >
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
