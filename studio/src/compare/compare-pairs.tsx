import { useEffect, useMemo, useRef, useState } from 'react';
import { parseRef } from '../../../src/core/ref.ts';
import { plural } from '../../../src/wording/amount.ts';
import { type RunAddress, runAddress } from '../address/address.ts';
import { useStudio } from '../frame/studio.ts';
import { useActions } from '../keys/actions.ts';
import { announce } from '../parts/announcer.ts';
import { Failure } from '../parts/states.tsx';
import { asError, useAnswer } from '../parts/use-answer.ts';
import type { CompareAnswer, ComparePair } from '../source/answers.ts';
import { CompareStates } from './compare-states.tsx';
import { CompareStrips } from './compare-strips.tsx';
import { CompareUsage } from './compare-usage.tsx';
import { PairRow } from './pair-row.tsx';

/** The properties of a comparison of two. */
export interface ComparePairsProps {
  readonly address: RunAddress;
  readonly left: string;
  readonly right: string;
}

const views = ['history', 'state', 'usage'] as const;

/** Two histories in two columns: equal stretches fold to a count, differences are marked. */
export function ComparePairs({ address, left, right }: ComparePairsProps): React.ReactNode {
  const { source, namespace, bar } = useStudio();
  const [view, setView] = useState<(typeof views)[number]>('history');
  const first = useAnswer(
    `compare ${left} ${right}`,
    (signal) => source.compare(left, right, ['state'], '', namespace, signal),
    { keep: false },
  );
  const [more, setMore] = useState<{ readonly items: readonly ComparePair[]; readonly cursor: string }>();
  useEffect(() => setMore(undefined), [left, right]);
  const answer = first.value?.answer;
  const pairs = useMemo(() => [...(first.value?.items ?? []), ...(more?.items ?? [])], [first.value, more]);
  const cursor = more?.cursor ?? first.value?.cursor ?? '';
  const differences = useMemo(() => pairs.flatMap((pair, at) => (pair.kind === 'equal' ? [] : [at])), [pairs]);
  const at = address.difference === undefined ? undefined : differences[address.difference - 1];
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (at !== undefined) list.current?.querySelector(`[data-pair="${at}"]`)?.scrollIntoView({ block: 'center' });
  }, [at]);
  const goTo = (difference: number): void => {
    if (difference < 1 || difference > differences.length) announce('No difference that way');
    else bar.replace({ ...address, difference });
  };
  const goToSeq = (
    place: { readonly left: number | null; readonly right: number | null } | null | undefined,
  ): (() => void) | undefined => {
    if (place === null || place === undefined) return undefined;
    const index = differences.findIndex((row) => {
      const pair = pairs[row];
      return (
        pair !== undefined &&
        pair.kind !== 'equal' &&
        ((place.left !== null && pair.left?.seq === place.left) ||
          (place.right !== null && pair.right?.seq === place.right))
      );
    });
    return index < 0 ? undefined : () => goTo(index + 1);
  };
  const goToPair = (pair: number): void => {
    const before = differences.findLastIndex((row) => row <= pair);
    const after = differences.findIndex((row) => row >= pair);
    const difference = differences[before] === pair ? before : after < 0 ? before : after;
    if (difference >= 0) goTo(difference + 1);
  };
  useActions([
    {
      id: 'next-difference',
      name: 'Next difference',
      keys: ['D', 'J', 'ArrowDown'],
      group: 'Move',
      run: () => goTo((address.difference ?? 0) + 1),
    },
    {
      id: 'previous-difference',
      name: 'Difference before',
      keys: ['Shift+D', 'K', 'ArrowUp'],
      group: 'Move',
      run: () => goTo((address.difference ?? 2) - 1),
    },
    { id: 'diverged', name: 'Where they first differ', keys: [], group: 'Move', run: goToSeq(answer?.divergedAt) },
    { id: 'sustained', name: 'Where they differ for good', keys: [], group: 'Move', run: goToSeq(answer?.sustainedAt) },
    { id: 'swap', name: 'Swap the sides', keys: [], group: 'Look', run: () => bar.go(swapped(left, right)) },
  ]);
  const readMore = (): void => {
    source
      .compare(left, right, [], cursor, namespace, new AbortController().signal)
      .then((page) => setMore({ items: [...(more?.items ?? []), ...page.items], cursor: page.cursor }))
      .catch((error: unknown) => announce(asError(error).message));
  };
  return (
    <div className="screen compare">
      <header className="screen-head">
        <h1>Compare</h1>
        <span className="modes" role="group" aria-label="What is compared">
          {views.map((each) => (
            <button
              key={each}
              type="button"
              className="quiet"
              aria-pressed={each === view}
              onClick={() => setView(each)}
            >
              {each}
            </button>
          ))}
        </span>
        {answer === undefined ? null : <Verdict answer={answer} />}
        <span className="spacer" />
        <Places answer={answer} onDiverged={goToSeq(answer?.divergedAt)} onSustained={goToSeq(answer?.sustainedAt)} />
        <span className="faint">
          {address.difference ?? 0} of {differences.length}
          {cursor === '' ? '' : '+'}
        </span>
        <button
          type="button"
          className="quiet"
          aria-label="Difference before"
          onClick={() => goTo((address.difference ?? 2) - 1)}
        >
          ▲
        </button>
        <button
          type="button"
          className="quiet"
          aria-label="Next difference"
          onClick={() => goTo((address.difference ?? 0) + 1)}
        >
          ▼
        </button>
      </header>
      {first.error === undefined ? null : <Failure error={first.error} onAgain={first.again} />}
      <CompareStrips refs={[left, right]} answer={answer} pairs={pairs} at={at} onPair={goToPair} />
      <div className="compare-heads">
        <SideHead refText={left} answer={answer} side="left" />
        <SideHead refText={right} answer={answer} side="right" />
      </div>
      {view === 'state' ? (
        <CompareStates states={answer?.states ?? {}} />
      ) : view === 'usage' ? (
        answer === undefined ? null : (
          <CompareUsage answer={answer} />
        )
      ) : (
        <div className="pairs" ref={list} role="table" aria-label="Pairs of events" data-part="pairs" tabIndex={0}>
          {pairs.map((pair, row) => (
            <PairRow key={row} pair={pair} at={row} isSelected={row === at} left={left} right={right} />
          ))}
          {cursor === '' ? null : (
            <button type="button" className="button pairs-more" onClick={readMore}>
              More differences
            </button>
          )}
        </div>
      )}
    </div>
  );
}

/** Returns the address of a comparison with its sides swapped. */
function swapped(left: string, right: string): RunAddress {
  const { session, branch, at } = parseRef(right);
  return runAddress(session, branch, at.kind === 'seq' ? at.seq : 'head', { with: [left] });
}

function Verdict({ answer }: { readonly answer: CompareAnswer }): React.ReactNode {
  const { identical, matched, changed, onlyLeft, onlyRight } = answer;
  return (
    <span className="dim" data-part="verdict">
      {identical
        ? 'They are equal'
        : `${matched} equal, ${changed} changed, ${onlyLeft} only left, ${onlyRight} only right`}
    </span>
  );
}

interface PlacesProps {
  readonly answer: CompareAnswer | undefined;
  readonly onDiverged: (() => void) | undefined;
  readonly onSustained: (() => void) | undefined;
}

function Places({ answer, onDiverged, onSustained }: PlacesProps): React.ReactNode {
  if (answer === undefined || answer.identical) return null;
  const { forkPoint, divergedAt, sustainedAt, reconvergedAt } = answer;
  const [again] = reconvergedAt;
  return (
    <span className="compare-places">
      {forkPoint === null ? 'not related' : `same up to @${forkPoint.seq}`}
      {divergedAt === null ? null : (
        <button type="button" className="link" disabled={onDiverged === undefined} onClick={onDiverged}>
          differ from @{divergedAt.left ?? divergedAt.right}
        </button>
      )}
      {sustainedAt === null ? null : (
        <button type="button" className="link" disabled={onSustained === undefined} onClick={onSustained}>
          for good from @{sustainedAt.left ?? sustainedAt.right}
        </button>
      )}
      {again === undefined ? null : <span>together again at @{again.left ?? again.right}</span>}
    </span>
  );
}

function SideHead({
  refText,
  answer,
  side,
}: {
  readonly refText: string;
  readonly answer: CompareAnswer | undefined;
  readonly side: 'left' | 'right';
}): React.ReactNode {
  const { bar } = useStudio();
  const about = answer?.[side];
  const { session, branch, at } = parseRef(refText);
  const open = (): void => bar.go(runAddress(session, branch, at.kind === 'seq' ? at.seq : 'head'));
  return (
    <div className="side-head">
      <h2 className="mono">
        <button type="button" className="link" onClick={open}>
          {refText}
        </button>
      </h2>
      {about === undefined ? null : (
        <span className="dim">
          {about.summary.outcome ?? 'no run'}, {plural(about.summary.events, 'event')}
        </span>
      )}
    </div>
  );
}
