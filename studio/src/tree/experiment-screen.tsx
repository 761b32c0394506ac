import '../look/tree.css';
import { useEffect } from 'react';
import { costText, countText, durationText } from '../../../src/wording/amount.ts';
import { runAddress } from '../address/address.ts';
import { useStudio } from '../frame/studio.ts';
import { lookOfOutcome } from '../look/glyphs.ts';
import { RecordedText } from '../parts/recorded-text.tsx';
import { Failure, Nothing } from '../parts/states.tsx';
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
  return (
    <div className="table-box">
      <table className="table" data-part="variants">
        <thead>
          <tr>
            <th scope="col">Variant</th>
            {isChecked ? (
              <>
                <th scope="col" className="number">
                  Passed
                </th>
                <th scope="col">95 % interval</th>
              </>
            ) : null}
            <th scope="col" className="number">
              Succeeded
            </th>
            {names.map((name) => (
              <th key={name} scope="col" className="number">
                {name}
              </th>
            ))}
            <th scope="col" className="number">
              Calls
            </th>
            <th scope="col" className="number">
              Tokens
            </th>
            <th scope="col" className="number">
              Cost
            </th>
            <th scope="col" className="number">
              Took
            </th>
          </tr>
        </thead>
        <tbody>
          {variants.map((each) => (
            <tr key={each.variant}>
              <td>
                <strong>
                  <RecordedText text={each.variant} />
                </strong>{' '}
                {each.flapping ? <span className="chip">flapping</span> : null}
              </td>
              {isChecked ? (
                <>
                  <td className="number">{each.checked === 0 ? '–' : `${each.passed} of ${each.checked}`}</td>
                  <td>
                    {each.interval === null ? (
                      '–'
                    ) : (
                      <Interval low={each.interval.low} high={each.interval.high} rate={each.interval.rate} />
                    )}
                  </td>
                </>
              ) : null}
              <td className="number">
                {each.succeeded} of {each.branches}
              </td>
              {names.map((name) => (
                <td key={name} className="number">
                  {each.scores.find((score) => score.name === name)?.mean.toFixed(2) ?? '–'}
                </td>
              ))}
              <td className="number">{each.mean.modelCalls.toFixed(1)}</td>
              <td className="number">{countText(Math.round(each.mean.tokens))}</td>
              <td className="number">{costText(each.mean.cost)}</td>
              <td className="number">{durationText(each.mean.latencyMs)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
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
  return (
    <div className="table-box">
      <table className="table">
        <thead>
          <tr>
            <th scope="col">Variant</th>
            <th scope="col" className="number">
              Repeat
            </th>
            <th scope="col">Check</th>
            <th scope="col">Outcome</th>
            <th scope="col">Said</th>
            <th scope="col" className="number">
              Differs from
            </th>
            <th scope="col" className="number">
              Cost
            </th>
            <th scope="col" className="number">
              Took
            </th>
          </tr>
        </thead>
        <tbody>
          {branches.map((row) => {
            const outcome = lookOfOutcome(row.outcome);
            return (
              <tr
                key={`${row.session} ${row.branch}`}
                onClick={() => bar.go(runAddress(row.session, row.branch, 'head'))}
              >
                <td>
                  <a
                    href={bar.href(runAddress(row.session, row.branch, 'head'))}
                    onClick={(event) => {
                      event.preventDefault();
                    }}
                  >
                    <RecordedText text={row.variant} />
                  </a>
                </td>
                <td className="number">{row.repeat}</td>
                <td className={row.passed === true ? 'color-ok' : row.passed === false ? 'color-error' : 'faint'}>
                  {row.passed === null ? '–' : row.passed ? '✓ passed' : '✕ failed'}
                </td>
                <td className={`color-${outcome.hue}`}>
                  {outcome.glyph} {outcome.word}
                </td>
                <td className="table-title dim">
                  <RecordedText text={(row.error ?? row.text).slice(0, 200)} />
                </td>
                <td className="number">
                  {row.divergedAt === null ? '–' : `@${row.divergedAt.right ?? row.divergedAt.left ?? ''}`}
                </td>
                <td className="number">{costText(row.cost)}</td>
                <td className="number">{durationText(row.latencyMs)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
