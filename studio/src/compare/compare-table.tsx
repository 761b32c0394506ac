import { parseRef } from '../../../src/core/ref.ts';
import { countText, durationText, priceText } from '../../../src/wording/amount.ts';
import { runAddress } from '../address/address.ts';
import { useStudio } from '../frame/studio.ts';
import { type Look, lookOfOutcome } from '../look/glyphs.ts';
import { Failure } from '../parts/states.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { useAnswer } from '../parts/use-answer.ts';
import type { CompareRow } from '../source/answers.ts';

const notEnded: Look = { glyph: '–', hue: 'dim', word: 'not ended there' };

/** Three to eight histories as a table, each compared with the first. */
export function CompareTable({ refs }: { readonly refs: readonly string[] }): React.ReactNode {
  const { source, namespace, bar } = useStudio();
  const { value, error, again } = useAnswer(
    `table ${refs.join(' ')}`,
    (signal) => source.compareTable(namespace, refs, signal),
    { keep: false },
  );
  const [first = ''] = refs;
  const pair = (ref: string): void => {
    const { session, branch, at } = parseRef(first);
    bar.go(runAddress(session, branch, at.kind === 'seq' ? at.seq : 'head', { with: [ref] }));
  };
  return (
    <div className="screen compare-table">
      <header className="screen-head">
        <h1>Compare {refs.length} histories</h1>
        <span className="dim">each with {first}</span>
      </header>
      {error === undefined ? null : <Failure error={error} onAgain={again} />}
      {value === undefined ? null : (
        <div className="table-box">
          <Table
            columns={columnsOf(value[0], pair)}
            rows={value}
            keyOf={({ ref }) => ref}
            onOpen={({ session, branch }) => bar.go(runAddress(session, branch, 'head'))}
          />
        </div>
      )}
    </div>
  );
}

/** Returns the columns of histories, of which the first is the one that the others are compared with. */
function columnsOf(first: CompareRow | undefined, pair: (ref: string) => void): readonly Column<CompareRow>[] {
  return [
    { head: 'History', look: () => 'mono', cell: ({ ref }) => ref },
    {
      head: 'Outcome',
      look: (row) => `color-${outcomeOf(row).hue}`,
      cell: (row) => `${outcomeOf(row).glyph} ${outcomeOf(row).word}`,
    },
    { head: 'Turns', isNumber: true, cell: ({ turns }) => turns },
    { head: 'Events', isNumber: true, cell: ({ events }) => countText(events) },
    { head: 'Tokens in', isNumber: true, cell: ({ usage }) => countText(usage.inputTokens) },
    { head: 'Tokens out', isNumber: true, cell: ({ usage }) => countText(usage.outputTokens) },
    { head: 'Cost', isNumber: true, cell: ({ usage }) => priceText(usage, '–').replace('?', 'no price') },
    { head: 'Took', isNumber: true, cell: (row) => (row.durationMs === null ? '–' : durationText(row.durationMs)) },
    {
      head: 'First difference',
      cell: (row) => (row === first ? <span className="faint">the first</span> : placeOf(row)),
    },
    {
      head: 'Compare',
      isHeadUnseen: true,
      cell: (row) =>
        row === first ? null : (
          <button
            type="button"
            className="link"
            onClick={(event) => {
              event.stopPropagation();
              pair(row.ref);
            }}
          >
            side by side
          </button>
        ),
    },
  ];
}

/** A point may lie before the end of a run that is over by now. */
const outcomeOf = ({ outcome }: CompareRow): Look => (outcome === 'silent' ? notEnded : lookOfOutcome(outcome));

function placeOf({ identical, divergedAt }: CompareRow): string {
  const seq = divergedAt?.right ?? divergedAt?.left;
  if (identical) return 'equal';
  return seq === undefined || seq === null ? '–' : `@${seq}`;
}
