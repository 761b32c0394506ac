import { bytesText, countText, plural } from '../../../src/wording/amount.ts';
import { useStudio } from '../frame/studio.ts';
import { Failure, Nothing } from '../parts/states.tsx';
import { useAnswer } from '../parts/use-answer.ts';
import type { Diagnosis } from '../source/answers.ts';

/** The health of the store, as `reprise doctor` reads it. */
export function StoreScreen(): React.ReactNode {
  const { source } = useStudio();
  const { value, error, again } = useAnswer('store', (signal) => source.store(signal), { keep: false });
  return (
    <div className="screen store" role="region" aria-label="Store" tabIndex={0}>
      <header className="screen-head">
        <h1>Store</h1>
      </header>
      {error === undefined ? null : <Failure error={error} onAgain={again} />}
      {value === undefined && error === undefined ? <Nothing>Examining the store…</Nothing> : null}
      {value === undefined ? null : <Health health={value} />}
    </div>
  );
}

function Health({ health }: { readonly health: Diagnosis }): React.ReactNode {
  const { ok, findings, advice, store, sessions, branches, events } = health;
  return (
    <>
      <p className={ok ? 'color-ok store-verdict' : 'color-error store-verdict'}>
        {ok ? '✓ The store is sound' : `✕ ${plural(findings.length, 'problem')}`}
      </p>
      {[...findings, ...advice].map((each) => (
        <p key={each.message} className="store-advice">
          {each.message} <code>{each.todo}</code>
        </p>
      ))}
      <dl className="store-facts">
        <Fact name="place">{health.location}</Fact>
        {events === null ? null : (
          <Fact name="holds">
            {plural(sessions ?? 0, 'session')}, {branches === 1 ? '1 branch' : `${countText(branches ?? 0)} branches`},{' '}
            {plural(events, 'event')}
          </Fact>
        )}
        {store === null ? null : (
          <>
            <Fact name="kind">
              {store.kind}, schema {store.schema}
            </Fact>
            <Fact name="size">{bytesText(store.bytes)}</Fact>
            <Fact name="an append survives">{store.durability}</Fact>
            {store.facts.map(({ name, text }) => (
              <Fact key={name} name={name}>
                {text}
              </Fact>
            ))}
          </>
        )}
        {health.freeBytes === null ? null : <Fact name="free on the disk">{bytesText(health.freeBytes)}</Fact>}
        <Fact name="release">
          reprise {health.reprise}, Node {health.node}
        </Fact>
      </dl>
      <Sizes
        name="Namespaces"
        rows={(store?.namespaces ?? []).map(({ name, sessions: count, bytes }) => [
          name,
          plural(count, 'session'),
          bytesText(bytes),
        ])}
      />
      <Sizes
        name="Tables"
        rows={(store?.tables ?? []).map(({ name, bytes, indexBytes }) => [
          name,
          bytesText(bytes),
          `${bytesText(indexBytes)} of indexes`,
        ])}
      />
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

function Sizes({
  name,
  rows,
}: {
  readonly name: string;
  readonly rows: readonly (readonly string[])[];
}): React.ReactNode {
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
