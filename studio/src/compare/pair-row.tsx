import { memo } from 'react';
import { isArray, isObject, type JsonObject, type JsonValue } from '../../../src/core/json.ts';
import { parseRef } from '../../../src/core/ref.ts';
import { plural } from '../../../src/wording/amount.ts';
import { short } from '../../../src/wording/event-gist.ts';
import { runAddress } from '../address/address.ts';
import { useStudio } from '../frame/studio.ts';
import { lookOf } from '../look/glyphs.ts';
import { pathText } from '../parts/path-text.ts';
import { RecordedText } from '../parts/recorded-text.tsx';
import { WordDifference } from '../parts/word-difference.tsx';
import type { ComparePair, EventLine } from '../source/answers.ts';

interface PairRowProps {
  readonly pair: ComparePair;
  readonly at: number;
  readonly isSelected: boolean;
  readonly left: string;
  readonly right: string;
}

/** One line of a comparison: a stretch that is equal, or an event on each side with the fields that differ. */
export const PairRow = memo(function PairRow({ pair, at, isSelected, left, right }: PairRowProps): React.ReactNode {
  if (pair.kind === 'equal')
    return (
      <div
        className="pair pair-equal"
        role="row"
        data-pair={at}
        data-selected={isSelected || undefined}
        aria-current={isSelected || undefined}
      >
        <span role="cell">
          ⋯ {pair.count} equal <span className="faint mono">{rangeText(pair.left)}</span>
        </span>
        <span role="cell" className="faint mono">
          {rangeText(pair.right)}
        </span>
      </div>
    );
  return (
    <div
      className="pair"
      role="row"
      data-pair={at}
      data-kind={pair.kind}
      data-selected={isSelected || undefined}
      aria-current={isSelected || undefined}
    >
      <SideCell line={pair.left} refText={left} />
      <SideCell line={pair.right} refText={right} />
      {pair.fields === undefined ? null : (
        <div className="pair-fields" role="cell">
          <Fields fields={pair.fields} />
        </div>
      )}
    </div>
  );
});

const rangeText = ([from, to]: readonly [number, number]): string => (from === to ? `@${from}` : `@${from}–${to}`);

function SideCell({
  line,
  refText,
}: {
  readonly line: EventLine | undefined;
  readonly refText: string;
}): React.ReactNode {
  const { bar } = useStudio();
  if (line === undefined) return <div className="pair-side pair-none" role="cell" />;
  const look = lookOf(line.type, line.gist.startsWith('model ') ? 'model' : 'tool');
  const { session, branch } = parseRef(refText);
  return (
    <div className="pair-side" role="cell">
      <button
        type="button"
        className="link mono"
        aria-label={`Open ${branch} at ${line.seq}`}
        onClick={() => bar.go(runAddress(session, branch, line.seq))}
      >
        {line.seq}
      </button>
      <span className={`color-${look.hue}`}>{look.glyph}</span>
      <span className="pair-words">
        <span className="pair-type">{line.type.replace('.', ' ')}</span>{' '}
        <RecordedText text={line.gist.replace(/(^| {2})0ms(?= {2}|$)/, '')} />
      </span>
    </div>
  );
}

const shownMax = 12;

/** The fields in which two events differ: words by words, values by value. */
function Fields({ fields }: { readonly fields: JsonValue }): React.ReactNode {
  if (!isObject(fields)) return null;
  const lists = (['changed', 'removed', 'added'] as const).flatMap((kind) => {
    const list = fields[kind];
    return isArray(list) ? list.filter(isObject).map((item) => ({ kind, item })) : [];
  });
  return (
    <>
      {lists.slice(0, shownMax).map(({ kind, item }) => (
        <Field key={`${kind} ${pathText(item['path'])}`} kind={kind} item={item} />
      ))}
      {lists.length > shownMax ? <p className="faint">{plural(lists.length - shownMax, 'more field')}</p> : null}
    </>
  );
}

function Field({
  kind,
  item,
}: {
  readonly kind: 'changed' | 'removed' | 'added';
  readonly item: JsonObject;
}): React.ReactNode {
  const { left, right, value } = item;
  return (
    <p className="pair-field">
      <code className="faint">{pathText(item['path'])}</code>{' '}
      {kind === 'changed' ? (
        <WordDifference
          before={typeof left === 'string' ? left : short(left)}
          after={typeof right === 'string' ? right : short(right)}
          near
        />
      ) : kind === 'removed' ? (
        <del className="diff-out">
          <RecordedText text={short(value)} />
        </del>
      ) : (
        <ins className="diff-in">
          <RecordedText text={short(value)} />
        </ins>
      )}
    </p>
  );
}
