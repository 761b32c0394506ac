import { bytesText, countText } from '../../../src/wording/amount.ts';
import { useStudio } from '../frame/studio.ts';
import { Failure } from '../parts/states.tsx';
import { useAnswer } from '../parts/use-answer.ts';
import type { Diagnosis } from '../source/answers.ts';

/** The health of the store, as `reprise doctor` reads it. */
export function StoreScreen(): React.ReactNode {
  const { source } = useStudio();
  const { value, error, again } = useAnswer('store', (signal) => source.store(signal), { keep: false });
  return (
    <div className="screen store">
      <header className="screen-head">
        <h1>Store</h1>
      </header>
      {error === undefined ? null : <Failure error={error} onAgain={again} />}
      {value === undefined ? null : <Health health={value} />}
    </div>
  );
}

function Health({ health }: { readonly health: Diagnosis }): React.ReactNode {
  const { problems, advice, facts, tables, namespaces } = health;
  return (
    <>
      <p className={problems.length === 0 ? 'color-ok store-verdict' : 'color-error store-verdict'}>
        {problems.length === 0 ? '✓ The store is sound' : `✕ ${problems.length} ${problems.length === 1 ? 'problem' : 'problems'}`}
      </p>
      {[...problems, ...advice].map((each) => (
        <p key={each.message} className="store-advice">
          {each.message} {each.todo === undefined ? null : <code>{each.todo}</code>}
        </p>
      ))}
      <dl className="store-facts">
        <Fact name="kind">{health.kind}</Fact>
        <Fact name="place">{health.location}</Fact>
        <Fact name="schema">{health.schema}</Fact>
        <Fact name="size">{bytesText(health.bytes)}</Fact>
        <Fact name="an append survives">{health.durability}</Fact>
        {facts.map(({ name, text }) => (
          <Fact key={name} name={name}>
            {text}
          </Fact>
        ))}
      </dl>
      <Sizes name="Namespaces" rows={namespaces.map(({ name, sessions, bytes }) => [name, `${countText(sessions)} sessions`, bytesText(bytes)])} />
      <Sizes name="Tables" rows={tables.map(({ name, bytes, indexBytes }) => [name, bytesText(bytes), `${bytesText(indexBytes)} of indexes`])} />
    </>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: React.ReactNode }): React.ReactNode {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Sizes({ name, rows }: { readonly name: string; readonly rows: readonly (readonly string[])[] }): React.ReactNode {
  if (rows.length === 0) return null;
  return (
    <section>
      <h2>{name}</h2>
      <table className="table">
        <tbody>
          {rows.map((row) => (
            <tr key={row[0]}>
              {row.map((cell) => (
                <td key={cell}>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
