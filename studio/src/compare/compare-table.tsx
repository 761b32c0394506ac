import { parseRef } from '../../../src/core/ref.ts';
import { countText, durationText, priceText } from '../../../src/wording/amount.ts';
import { runAddress } from '../address/address.ts';
import { useStudio } from '../frame/studio.ts';
import { type Look, lookOfOutcome } from '../look/glyphs.ts';
import { Failure } from '../parts/states.tsx';
import { useAnswer } from '../parts/use-answer.ts';

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
          <table className="table">
            <thead>
              <tr>
                <th scope="col">History</th>
                <th scope="col">Outcome</th>
                <th scope="col" className="number">
                  Turns
                </th>
                <th scope="col" className="number">
                  Events
                </th>
                <th scope="col" className="number">
                  Tokens in
                </th>
                <th scope="col" className="number">
                  Tokens out
                </th>
                <th scope="col" className="number">
                  Cost
                </th>
                <th scope="col" className="number">
                  Took
                </th>
                <th scope="col">First difference</th>
                <th scope="col">
                  <span className="unseen">Compare</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {value.map((row, at) => {
                // A point may lie before the end of a run that is over by now.
                const outcome = row.outcome === 'silent' ? notEnded : lookOfOutcome(row.outcome);
                const seq = row.divergedAt?.right ?? row.divergedAt?.left;
                return (
                  <tr key={row.ref} onClick={() => bar.go(runAddress(row.session, row.branch, 'head'))}>
                    <td className="mono">{row.ref}</td>
                    <td className={`color-${outcome.hue}`}>
                      {outcome.glyph} {outcome.word}
                    </td>
                    <td className="number">{row.turns}</td>
                    <td className="number">{countText(row.events)}</td>
                    <td className="number">{countText(row.usage.inputTokens)}</td>
                    <td className="number">{countText(row.usage.outputTokens)}</td>
                    <td className="number">{priceText(row.usage, '–').replace('?', 'no price')}</td>
                    <td className="number">{row.durationMs === null ? '–' : durationText(row.durationMs)}</td>
                    <td>
                      {at === 0 ? (
                        <span className="faint">the first</span>
                      ) : row.identical ? (
                        'equal'
                      ) : seq === undefined || seq === null ? (
                        '–'
                      ) : (
                        `@${seq}`
                      )}
                    </td>
                    <td>
                      {at === 0 ? null : (
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
                      )}
                    </td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        </div>
      )}
    </div>
  );
}
