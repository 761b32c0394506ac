import type { ValueDiff } from '../../../src/core/comparing/value-diff.ts';
import { short } from '../../../src/wording/event-gist.ts';
import { pathText } from '../parts/path-text.ts';
import { RecordedText } from '../parts/recorded-text.tsx';
import { Nothing } from '../parts/states.tsx';

/** The values in which two histories end up different. */
export function CompareStates({ states }: { readonly states: Readonly<Record<string, ValueDiff>> }): React.ReactNode {
  const different = Object.entries(states).filter(([, diff]) => !diff.identical);
  if (different.length === 0) return <Nothing>Both know the same at the end.</Nothing>;
  return (
    <div className="compare-states">
      {different.map(([name, { changed, removed, added }]) => (
        <section key={name}>
          <h2>{name}</h2>
          <table className="table">
            <tbody>
              {[
                ...changed.map(({ path, left, right }) => ({ path, left: short(left), right: short(right) })),
                ...removed.map(({ path, value }) => ({ path, left: short(value), right: '' })),
                ...added.map(({ path, value }) => ({ path, left: '', right: short(value) })),
              ].map(({ path, left, right }) => (
                <tr key={pathText([...path])}>
                  <td>
                    <code>{pathText([...path])}</code>
                  </td>
                  <td>
                    {left === '' ? null : (
                      <del className="diff-out">
                        <RecordedText text={left} />
                      </del>
                    )}
                  </td>
                  <td>
                    {right === '' ? null : (
                      <ins className="diff-in">
                        <RecordedText text={right} />
                      </ins>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      ))}
    </div>
  );
}
