import type { Coding, CodingFailure, CodingNote } from '../../../src/core/coding/coding.ts';
import { isObject, type JsonValue } from '../../../src/core/json.ts';
import { plural } from '../../../src/wording/amount.ts';
import { short } from '../../../src/wording/event-gist.ts';
import { FoldSection } from '../parts/fold-section.tsx';
import { RecordedText } from '../parts/recorded-text.tsx';
import { SeqLink } from '../parts/seq-link.tsx';

/** Returns true if a value of the projection `coding` is whole; a very long one was cut. */
export function isCoding(value: JsonValue): value is JsonValue & Coding {
  return (
    isObject(value) &&
    ['constraints', 'failures', 'files', 'decisions', 'procedures', 'evidence', 'facts', 'risks'].every((name) =>
      Array.isArray(value[name]),
    )
  );
}

/** Returns true if there is anything to show: every run is noted, even where no one writes code. */
export function hasWork({ goal, testRuns, ...lists }: Coding): boolean {
  const { constraints, failures, files, decisions, procedures, evidence, facts, risks } = lists;
  const kinds = [constraints, failures, files, decisions, procedures, evidence, facts, risks];
  return goal !== null || testRuns > 0 || kinds.some(({ length }) => length > 0);
}

interface CodingProps {
  readonly coding: Coding;
  readonly onGo: (seq: number) => void;
}

/** The work of a coding session at a point: its goal, its constraints, tests that fail, files that were changed. */
export function CodingSection({ coding, onGo }: CodingProps): React.ReactNode {
  const { goal, constraints, failures, files, risks } = coding;
  const open = failures.filter(({ status }) => status !== 'resolved');
  return (
    <div className="coding" data-part="coding">
      {goal === null ? null : (
        <p className="coding-goal">
          <span className="label">goal</span> <RecordedText text={goal.title} /> <Sources note={goal} onGo={onGo} />
        </p>
      )}
      {goal?.description === null || goal === null ? null : (
        <p className="dim">
          <RecordedText text={goal.description} />
        </p>
      )}
      <Group title="Constraints" count={constraints.length}>
        {constraints.map((constraint) => (
          <li key={constraint.key}>
            <span className="chip">{constraint.strength}</span>
            <RecordedText text={constraint.text} /> <Sources note={constraint} onGo={onGo} />
          </li>
        ))}
      </Group>
      <Group title="Tests that fail" count={open.length}>
        {open.map((failure) => (
          <Failing key={failure.test} failure={failure} onGo={onGo} />
        ))}
      </Group>
      <Group title="Changed files" count={files.length}>
        {files.map(({ path, patches, summary, source }) => (
          <li key={path}>
            <code>
              <RecordedText text={path} />
            </code>
            <span className="faint">{plural(patches, 'change')}</span>
            {summary === null ? null : <RecordedText text={summary} />} <Sources note={{ source }} onGo={onGo} />
          </li>
        ))}
      </Group>
      <Group title="Risks" count={risks.length}>
        {risks.map(({ seq, title, content }) => (
          <li key={seq}>
            <RecordedText text={title} /> <span className="faint">{short(content)}</span>{' '}
            <SeqLink seq={seq} onGo={onGo} />
          </li>
        ))}
      </Group>
      {(['decisions', 'procedures', 'evidence', 'facts'] as const).map((kind) => (
        <Group key={kind} title={titles[kind]} count={coding[kind].length} isOpen={kind === 'decisions'}>
          {coding[kind].map((note, at) => (
            <li key={`${note.source.join()} ${at}`}>
              <RecordedText text={note.text} /> <Sources note={note} onGo={onGo} />
            </li>
          ))}
        </Group>
      ))}
      <p className="faint">
        {plural(coding.testRuns, 'test run')}
        {failures.length === open.length ? '' : `, ${plural(failures.length - open.length, 'failure')} resolved`}
        {coding.dropped === 0 ? '' : `, ${plural(coding.dropped, 'older record')} dropped`}
      </p>
    </div>
  );
}

const titles = { decisions: 'Decisions', procedures: 'Procedures', evidence: 'Evidence', facts: 'Facts' } as const;

function Group({
  title,
  count,
  isOpen = true,
  children,
}: {
  readonly title: string;
  readonly count: number;
  readonly isOpen?: boolean;
  readonly children: React.ReactNode;
}): React.ReactNode {
  if (count === 0) return null;
  return (
    <FoldSection title={`${title} (${count})`} open={isOpen}>
      <ul className="coding-list">{children}</ul>
    </FoldSection>
  );
}

function Failing({
  failure: { test, status, message, lastSeen, errorType },
  onGo,
}: {
  readonly failure: CodingFailure;
  readonly onGo: (seq: number) => void;
}): React.ReactNode {
  return (
    <li>
      <span className={status === 'active' ? 'color-error' : 'color-warning'}>
        {status === 'active' ? '✕ fails' : status === 'flaky' ? '~ flaky' : '– missing'}
      </span>
      <RecordedText text={test} />
      {message === null && errorType === null ? null : (
        <span className="faint">
          <RecordedText text={[errorType, message].filter((word) => word !== null).join(': ')} />
        </span>
      )}
      <SeqLink seq={lastSeen} onGo={onGo} />
    </li>
  );
}

const sourcesMax = 3;

/** The events that a text came from. */
function Sources({
  note: { source },
  onGo,
}: {
  readonly note: Pick<CodingNote, 'source'>;
  readonly onGo: (seq: number) => void;
}): React.ReactNode {
  return (
    <span className="coding-source">
      {source.slice(-sourcesMax).map((seq) => (
        <SeqLink key={seq} seq={seq} onGo={onGo} />
      ))}
    </span>
  );
}
