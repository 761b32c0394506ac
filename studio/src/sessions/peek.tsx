import { useStudio } from '../frame/studio.ts';
import { Line } from '../panels/why-panel.tsx';
import { RecordedText } from '../parts/recorded-text.tsx';
import { Failure } from '../parts/states.tsx';
import { useAnswer } from '../parts/use-answer.ts';
import type { SessionRow } from '../source/answers.ts';

/** A look at a session without leaving the list: its title, its last messages, its first error. */
export function Peek({
  row,
  onClose,
  onOpen,
}: {
  readonly row: SessionRow;
  readonly onClose: () => void;
  readonly onOpen: (row: SessionRow) => void;
}): React.ReactNode {
  const { source, namespace } = useStudio();
  const name = { namespace, session: row.session, branch: row.branch };
  const seqs = [row.activity.firstError, ...Array.from({ length: 6 }, (_, at) => row.head - 5 + at)].filter(
    (seq): seq is NonNullable<typeof seq> => seq !== null && seq >= 1,
  );
  const wanted = [...new Set(seqs)].sort((a, b) => a - b);
  const { value, error } = useAnswer(`peek ${row.session} ${row.head}`, (signal) =>
    source
      .events(name, wanted, signal)
      .then(async (events) => ({ events, gists: await source.gists(name, wanted, signal) })),
  );
  return (
    <aside className="float peek" aria-label="A look at the session">
      <header>
        <h2>
          <RecordedText text={row.title ?? row.session} />
        </h2>
        <span className="spacer" />
        <button type="button" className="button" onClick={() => onOpen(row)}>
          Open
        </button>
        <button type="button" className="quiet" aria-label="Close" onClick={onClose}>
          ✕
        </button>
      </header>
      {error === undefined ? null : <Failure error={error} />}
      {value?.events.map(({ value: event }, at) => (
        <Line
          key={event.seq}
          line={{
            seq: event.seq,
            type: event.type,
            agent: event.agent ?? null,
            time: event.time,
            turn: event.turn,
            gist: value.gists[at] ?? '',
          }}
          onGo={() => onOpen(row)}
          {...(event.seq === row.activity.firstError ? { note: 'first error' } : {})}
        />
      ))}
    </aside>
  );
}
