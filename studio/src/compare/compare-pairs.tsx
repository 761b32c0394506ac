import { useEffect, useMemo, useRef, useState } from 'react';
import { parseRef } from '../../../src/core/ref.ts';
import { plural } from '../../../src/wording/amount.ts';
import { type RunAddress, runAddress } from '../address/address.ts';
import { useStudio } from '../frame/studio.ts';
import { type Action, useActions } from '../keys/actions.ts';
import { lookOfOutcome } from '../look/glyphs.ts';
import { Icon } from '../look/icon.tsx';
import { announce } from '../parts/announcer.ts';
import { useCell } from '../parts/cell.ts';
import { Failure } from '../parts/states.tsx';
import { asError, useAnswer } from '../parts/use-answer.ts';
import { useThrottled } from '../parts/use-throttled.ts';
import { RunBanner } from '../run/run-banner.tsx';
import type { CompareAnswer, ComparePair } from '../source/answers.ts';
import { type ComparePlace, isAtPlace, placesOf, type Side, seqOf } from './compare-places.ts';
import { CompareStates } from './compare-states.tsx';
import { CompareStrips, nameOf } from './compare-strips.tsx';
import { CompareUsage } from './compare-usage.tsx';
import { PairRow } from './pair-row.tsx';

/** The properties of a comparison of two. */
export interface ComparePairsProps {
  readonly address: RunAddress;
  readonly left: string;
  readonly right: string;
}

const views = ['history', 'state', 'usage'] as const;
/** How often histories that grow are compared again. */
const grownMs = 1_000;

/** Two histories in two columns: equal stretches fold to a count, differences are marked. */
export function ComparePairs({ address, left, right }: ComparePairsProps): React.ReactNode {
  const { source, namespace, bar } = useStudio();
  const [view, setView] = useState<(typeof views)[number]>('history');
  const grown = useThrottled(useGrowth(left) + useGrowth(right), grownMs);
  const first = useAnswer(
    `compare ${left} ${right} ${grown}`,
    (signal) => source.compare(left, right, ['state'], '', namespace, signal),
    { keep: false },
  );
  const [more, setMore] = useState<{ readonly items: readonly ComparePair[]; readonly cursor: string }>();
  useEffect(() => setMore(undefined), [left, right, grown]);
  const answer = first.value?.answer;
  const pairs = useMemo(() => [...(first.value?.items ?? []), ...(more?.items ?? [])], [first.value, more]);
  const cursor = more?.cursor ?? first.value?.cursor ?? '';
  const differences = useMemo(() => pairs.flatMap((pair, at) => (pair.kind === 'equal' ? [] : [at])), [pairs]);
  const [looked, setLooked] = useState<number>();
  useEffect(() => setLooked(undefined), [address.difference, left, right]);
  const at = looked ?? (address.difference === undefined ? undefined : differences[address.difference - 1]);
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (at !== undefined) list.current?.querySelector(`[data-pair="${at}"]`)?.scrollIntoView({ block: 'center' });
  }, [at]);
  const goTo = (difference: number): void => {
    if (difference < 1 || difference > differences.length) announce('No difference that way');
    else bar.replace({ ...address, difference });
  };
  const goToPlace = (place: ComparePlace): (() => void) | undefined => {
    const row = pairs.findIndex((pair) => isAtPlace(pair, place));
    if (row < 0) return undefined;
    const difference = differences.indexOf(row) + 1;
    return difference > 0 ? () => goTo(difference) : () => setLooked(row);
  };
  const places = placesOf(answer).map(({ place, ...named }) => ({ ...named, run: goToPlace(place) }));
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
    ...places.map(({ id, name, key, run }): Action => ({ id, name, keys: [key], group: 'Move', run })),
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
        {answer === undefined || answer.identical ? null : (
          <span className="compare-places">
            {answer.forkPoint === null ? 'not related' : `same up to @${answer.forkPoint.seq}`}
            {places.map(({ id, words, key, run }) => (
              <button key={id} type="button" className="link" disabled={run === undefined} onClick={run}>
                {words} <kbd className="key">{key}</kbd>
              </button>
            ))}
          </span>
        )}
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
      <RunBanner name={nameOf(right, namespace)} isCompared />
      <CompareStrips refs={[left, right]} answer={answer} pairs={pairs} at={at} onPair={goToPair} />
      <div className="compare-heads">
        <SideHead refText={left} answer={answer} side="left" pair={at === undefined ? undefined : pairs[at]} />
        <SideHead refText={right} answer={answer} side="right" pair={at === undefined ? undefined : pairs[at]} />
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

/** Returns how much a history has grown since it is looked at; one that ends at a seq does not grow. */
function useGrowth(ref: string): number {
  const studio = useStudio();
  const { session, branch, at } = useMemo(() => parseRef(ref), [ref]);
  const { namespace } = studio;
  const { history } = useMemo(() => studio.open({ namespace, session, branch }, 0), [studio, session, branch]);
  const { head, isLoading } = useCell(history.progress);
  const [first, setFirst] = useState<number>();
  useEffect(() => {
    if (!isLoading) setFirst((old) => old ?? head);
  }, [isLoading, head]);
  return at.kind === 'seq' ? 0 : head - (first ?? head);
}

function SideHead({
  refText,
  answer,
  side,
  pair,
}: {
  readonly refText: string;
  readonly answer: CompareAnswer | undefined;
  readonly side: Side;
  /** The pair that is looked at. */
  readonly pair: ComparePair | undefined;
}): React.ReactNode {
  const { bar, rights, forkNext } = useStudio();
  const { append, run } = useCell(rights);
  const about = answer?.[side];
  const { session, branch, at } = parseRef(refText);
  const open = (): void => bar.go(runAddress(session, branch, at.kind === 'seq' ? at.seq : 'head'));
  const seq = (pair === undefined ? undefined : seqOf(pair, side)) ?? (at.kind === 'seq' ? at.seq : undefined);
  const fork = (): void => {
    forkNext.set({ session, branch });
    bar.go(runAddress(session, branch, seq ?? 'head'));
  };
  return (
    <div className="side-head">
      <h2 className="mono">
        <button type="button" className="link" onClick={open}>
          {refText}
        </button>
      </h2>
      {about === undefined ? null : (
        <span className="dim">
          {lookOfOutcome(about.summary.outcome).word}, {plural(about.summary.events, 'event')}
        </span>
      )}
      <span className="spacer" />
      {append || run ? (
        <button type="button" className="quiet" onClick={fork}>
          <Icon name="fork" /> fork at {seq === undefined ? 'its head' : `@${seq}`}
        </button>
      ) : null}
    </div>
  );
}
