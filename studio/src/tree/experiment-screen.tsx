import '../look/tree.css';
import { useEffect } from 'react';
import { costText, countText, durationText } from '../../../src/wording/amount.ts';
import { type Address, runAddress } from '../address/address.ts';
import { useStudio } from '../frame/studio.ts';
import { lookOfOutcome } from '../look/glyphs.ts';
import { RecordedText } from '../parts/recorded-text.tsx';
import { Failure, Nothing } from '../parts/states.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { useAnswer } from '../parts/use-answer.ts';
import type { ExperimentAnswer } from '../source/answers.ts';

/** The table of an experiment, as `reprise experiment show` reads it. */
export function ExperimentScreen({ session, id }: { readonly session: string; readonly id: string }): React.ReactNode {
  const studio = useStudio();
  const { source, namespace } = studio;
  useEffect(() => studio.show([]), [studio]);
  const { value, error, again } = useAnswer(
    `experiment ${id}`,
    (signal) => source.experiment(namespace, session, id, signal),
    { keep: false },
  );
  const answer = value?.answer ?? undefined;
  return (
    <div className="screen experiment">
      <header className="screen-head">
        <h1>Experiment</h1>
        <code className="faint">{id}</code>
        {answer === undefined ? null : (
          <span className="dim">
            {countText(answer.branches.length)} of {countText(answer.total)} branches. Calls, tokens, cost and time are
            means of a branch.
            {answer.variants.some(({ checked }) => checked > 0) ? '' : ' No check says which answers are good.'}
          </span>
        )}
      </header>
      {error === undefined ? null : <Failure error={error} onAgain={again} />}
      {value !== undefined && answer === undefined ? <Nothing>This store has no such experiment.</Nothing> : null}
      {answer === undefined ? null : (
        <>
          <Variants answer={answer} />
          <Branches answer={answer} />
        </>
      )}
    </div>
  );
}

const percent = (part: number): string => `${Math.round(part * 100)} %`;

function Variants({ answer: { variants } }: { readonly answer: ExperimentAnswer }): React.ReactNode {
  const isChecked = variants.some(({ checked }) => checked > 0);
  const names = [...new Set(variants.flatMap(({ scores }) => scores.map(({ name }) => name)))];
  const columns = [variantColumn, ...(isChecked ? checkColumns : []), ...outcomeColumns(names)];
  return (
    <div className="table-box">
      <Table part="variants" columns={columns} rows={variants} keyOf={({ variant }) => variant} />
    </div>
  );
}

type Variant = ExperimentAnswer['variants'][number];

const variantColumn: Column<Variant> = {
  head: 'Variant',
  cell: ({ variant, flapping }) => (
    <>
      <strong>
        <RecordedText text={variant} />
      </strong>{' '}
      {flapping ? <span className="chip">flapping</span> : null}
    </>
  ),
};

const checkColumns: readonly Column<Variant>[] = [
  {
    head: 'Passed',
    isNumber: true,
    cell: ({ checked, passed }) => (checked === 0 ? '–' : `${passed} of ${checked}`),
  },
  {
    head: '95 % interval',
    cell: ({ interval }) => (interval === null ? '–' : <Interval {...interval} />),
  },
];

/** Returns the columns of what came out, and of each score by its name. */
function outcomeColumns(names: readonly string[]): readonly Column<Variant>[] {
  return [
    { head: 'Succeeded', isNumber: true, cell: ({ succeeded, branches }) => `${succeeded} of ${branches}` },
    ...names.map((name) => ({
      head: name,
      isNumber: true,
      cell: ({ scores }: Variant) => scores.find((score) => score.name === name)?.mean.toFixed(2) ?? '–',
    })),
    { head: 'Calls', isNumber: true, cell: ({ mean }) => mean.modelCalls.toFixed(1) },
    { head: 'Tokens', isNumber: true, cell: ({ mean }) => countText(Math.round(mean.tokens)) },
    { head: 'Cost', isNumber: true, cell: ({ mean }) => costText(mean.cost) },
    { head: 'Took', isNumber: true, cell: ({ mean }) => durationText(mean.latencyMs) },
  ];
}

/** An interval as a line with a dot at its rate, and in words. */
function Interval({
  low,
  high,
  rate,
}: {
  readonly low: number;
  readonly high: number;
  readonly rate: number;
}): React.ReactNode {
  return (
    <span className="interval">
      <svg width="88" height="12" viewBox="-4 0 88 12" aria-hidden="true">
        <path className="interval-axis" d="M0 6H80" />
        <path className="interval-line" d={`M${low * 80} 6H${high * 80}`} />
        <circle className="interval-dot" cx={rate * 80} cy="6" r="3" />
      </svg>
      {percent(low)}–{percent(high)}
    </span>
  );
}

function Branches({ answer: { branches } }: { readonly answer: ExperimentAnswer }): React.ReactNode {
  const { bar } = useStudio();
  const addressOf = (row: BranchRow): Address => runAddress(row.session, row.branch, 'head');
  return (
    <div className="table-box">
      <Table
        columns={branchColumns((row) => bar.href(addressOf(row)))}
        rows={branches}
        keyOf={({ session, branch }) => `${session} ${branch}`}
        onOpen={(row) => bar.go(addressOf(row))}
      />
    </div>
  );
}

type BranchRow = ExperimentAnswer['branches'][number];

function branchColumns(hrefOf: (row: BranchRow) => string): readonly Column<BranchRow>[] {
  return [
    {
      head: 'Variant',
      cell: (row) => (
        <a
          href={hrefOf(row)}
          onClick={(event) => {
            event.preventDefault();
          }}
        >
          <RecordedText text={row.variant} />
        </a>
      ),
    },
    { head: 'Repeat', isNumber: true, cell: ({ repeat }) => repeat },
    {
      head: 'Check',
      look: ({ passed }) => (passed === true ? 'color-ok' : passed === false ? 'color-error' : 'faint'),
      cell: ({ passed }) => (passed === null ? '–' : passed ? '✓ passed' : '✕ failed'),
    },
    {
      head: 'Outcome',
      look: ({ outcome }) => `color-${lookOfOutcome(outcome).hue}`,
      cell: ({ outcome }) => `${lookOfOutcome(outcome).glyph} ${lookOfOutcome(outcome).word}`,
    },
    {
      head: 'Said',
      look: () => 'table-title dim',
      cell: ({ error, text }) => <RecordedText text={(error ?? text).slice(0, 200)} />,
    },
    {
      head: 'Differs from',
      isNumber: true,
      cell: ({ divergedAt }) => (divergedAt === null ? '–' : `@${divergedAt.right ?? divergedAt.left ?? ''}`),
    },
    { head: 'Cost', isNumber: true, cell: ({ cost }) => costText(cost) },
    { head: 'Took', isNumber: true, cell: ({ latencyMs }) => durationText(latencyMs) },
  ];
}
