import { costText, countText, durationText } from '../../../src/wording/amount.ts';
import type { CompareAnswer } from '../source/answers.ts';

/** The usage of both histories, beside each other. */
export function CompareUsage({ answer: { left, right, counts } }: { readonly answer: CompareAnswer }): React.ReactNode {
  const rows: readonly (readonly [
    name: string,
    left: number | null,
    right: number | null,
    write: (value: number) => string,
  ])[] = [
    ['events', left.summary.events, right.summary.events, countText],
    ['turns', left.summary.turns, right.summary.turns, countText],
    ['tokens in', left.summary.spending.inputTokens, right.summary.spending.inputTokens, countText],
    ['tokens out', left.summary.spending.outputTokens, right.summary.spending.outputTokens, countText],
    ['cost', left.summary.spending.cost, right.summary.spending.cost, costText],
    ['took', left.summary.durationMs, right.summary.durationMs, durationText],
  ];
  return (
    <div className="compare-usage">
      <table className="table">
        <thead>
          <tr>
            <th scope="col">
              <span className="unseen">What</span>
            </th>
            <th scope="col" className="number">
              Left
            </th>
            <th scope="col" className="number">
              Right
            </th>
            <th scope="col" className="number">
              Change
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map(([name, a, b, write]) => (
            <tr key={name}>
              <td>{name}</td>
              <td className="number">{a === null ? '–' : write(a)}</td>
              <td className="number">{b === null ? '–' : write(b)}</td>
              <td className="number dim">{changeText(a, b)}</td>
            </tr>
          ))}
          <tr>
            <td>outcome</td>
            <td className="number">{left.summary.outcome ?? '–'}</td>
            <td className="number">{right.summary.outcome ?? '–'}</td>
            <td />
          </tr>
        </tbody>
      </table>
      <h2>By type of event</h2>
      <table className="table">
        <thead>
          <tr>
            <th scope="col">Type</th>
            <th scope="col" className="number">
              Equal
            </th>
            <th scope="col" className="number">
              Changed
            </th>
            <th scope="col" className="number">
              Only left
            </th>
            <th scope="col" className="number">
              Only right
            </th>
          </tr>
        </thead>
        <tbody>
          {Object.entries(counts).map(([type, { matched, changed, onlyLeft, onlyRight }]) => (
            <tr key={type}>
              <td className="mono">{type}</td>
              {[matched, changed, onlyLeft, onlyRight].map((count, at) => (
                <td key={`${type} ${at}`} className={count === 0 ? 'number faint' : 'number'}>
                  {countText(count)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Writes how much more or less the right side took. */
export function changeText(left: number | null, right: number | null): string {
  if (left === null || right === null || left === right) return '';
  if (left === 0) return 'new';
  const part = Math.round(((right - left) / left) * 100);
  return `${part > 0 ? '+' : '−'}${Math.abs(part)} %`;
}
