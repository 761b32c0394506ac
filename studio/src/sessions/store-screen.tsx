import { bytesText, countText, plural } from '../../../src/wording/amount.ts';
import { useStudio } from '../frame/studio.ts';
import { Failure, Nothing } from '../parts/states.tsx';
import { Table } from '../parts/table.tsx';
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

const survives: Readonly<Record<string, string>> = {
  disk: 'a crash of the machine: it is on disk',
  process: 'a crash of the program, not of the machine',
  'read-only': 'nothing is written here: the store is read-only',
};

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
        {health.location === '' ? null : <Fact name="place">{health.location}</Fact>}
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
            <Fact name="an append survives">{survives[store.durability] ?? store.durability}</Fact>
            {store.facts.map(({ name, text }) => (
              <Fact key={name} name={name}>
                {text.replace(/(\d+) bytes/, (_, bytes) => bytesText(Number(bytes)))}
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
        heads={['Sessions', 'Size']}
        rows={(store?.namespaces ?? []).map(({ name, sessions: count, bytes }) => [
          name,
          countText(count),
          bytesText(bytes),
        ])}
      />
      <Sizes
        name="Tables"
        heads={['Size', 'Indexes']}
        rows={(store?.tables ?? []).map(({ name, bytes, indexBytes }) => [
          name,
          bytesText(bytes),
          bytesText(indexBytes),
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
  heads,
  rows,
}: {
  readonly name: string;
  /** The heads of the columns after the first. */
  readonly heads: readonly string[];
  readonly rows: readonly (readonly string[])[];
}): React.ReactNode {
  if (rows.length === 0) return null;
  const columns = [name, ...heads].map((head, at) => ({
    head,
    isNumber: at > 0,
    cell: (row: readonly string[]) => row[at],
  }));
  return (
    <section>
      <Table columns={columns} rows={rows} keyOf={([first = '']) => first} />
    </section>
  );
}
