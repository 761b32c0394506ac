import { useState } from 'react';
import type { JsonValue } from '../../../src/core/json.ts';
import { bytesText, plural } from '../../../src/wording/amount.ts';
import { useStudio } from '../frame/studio.ts';
import { Icon } from '../look/icon.tsx';
import { copyText } from '../parts/copy.ts';
import { JsonTree } from '../parts/json-tree.tsx';
import { Fading, Failure, Nothing } from '../parts/states.tsx';
import { asError } from '../parts/use-answer.ts';
import type { Cut, PointName, Verified } from '../source/studio-source.ts';
import { useEvents } from './use-events.ts';

/** The event as `--json` prints it, as a tree that folds; its digest, and whether the chain is intact up to here. */
export function RawPanel({ point }: { readonly point: PointName }): React.ReactNode {
  const { source } = useStudio();
  const { value, error, isStale, again } = useEvents(point, [point.seq]);
  const [more, setMore] = useState<Readonly<Record<string, string>>>({});
  if (point.seq === 0) return <Nothing>The beginning: there is no event 0.</Nothing>;
  if (error !== undefined) return <Failure error={error} onAgain={again} />;
  const [event] = value ?? [];
  if (event === undefined) return null;
  const readOn = (cut: Cut): void => {
    const key = `${event.value.id} ${cut.path}`;
    source
      .text(point, cut.path, cut.shown + (more[key]?.length ?? 0), 0, new AbortController().signal)
      .then(({ text }) => setMore((old) => ({ ...old, [key]: (old[key] ?? '') + text })))
      .catch(() => setMore((old) => old));
  };
  const read = Object.entries(more).filter(([key]) => key.startsWith(event.value.id));
  const size = JSON.stringify(event.value).length;
  return (
    <Fading isStale={isStale}>
      <div className="raw">
        <div className="raw-head">
          <Digest digest={event.value.digest} />
          <span className="faint">{bytesText(size)}</span>
          <span className="spacer" />
          <button
            type="button"
            className="quiet"
            onClick={() => copyText(JSON.stringify(event.value, null, 2), 'the event')}
          >
            <Icon name="copy" /> copy as JSON
          </button>
        </div>
        <Verify point={point} key={`${point.branch} ${point.seq}`} />
        <JsonTree value={event.value as unknown as JsonValue} cuts={event.cuts} open={3} onMore={readOn} />
        {read.map(([key, text]) => (
          <section key={key} className="raw-more">
            <h2>{key.slice(event.value.id.length + 1)}, further on</h2>
            <pre className="recorded">{text.slice(0, 1_048_576)}</pre>
          </section>
        ))}
      </div>
    </Fading>
  );
}

/** A digest, short, with a way to copy it whole. */
export function Digest({ digest }: { readonly digest: string }): React.ReactNode {
  return (
    <button type="button" className="quiet mono" title={digest} onClick={() => copyText(digest, 'the digest')}>
      <span className="faint">digest</span> {digest.slice(0, 8)}… <Icon name="copy" />
    </button>
  );
}

function Verify({ point }: { readonly point: PointName }): React.ReactNode {
  const { source } = useStudio();
  const [state, setState] = useState<'idle' | 'busy' | Verified | Error>('idle');
  const run = (): void => {
    setState('busy');
    source
      .verify(point, point.seq, new AbortController().signal)
      .then(setState)
      .catch((error: unknown) => setState(asError(error)));
  };
  return (
    <div className="raw-verify" aria-live="polite">
      <button type="button" className="button" disabled={state === 'busy'} onClick={run}>
        Verify up to here
      </button>
      {state === 'busy' ? <span className="faint">recomputing the chain…</span> : null}
      {typeof state === 'object' && 'ok' in state ? (
        state.ok ? (
          <span className="color-ok">
            ✓ {plural(state.events, 'event')}, the chain holds, digest {state.digest.slice(0, 8)}…
          </span>
        ) : (
          <span className="color-error">✕ {state.problem ?? 'the chain does not hold'}</span>
        )
      ) : null}
      {state instanceof Error ? <span className="color-error">✕ {state.message}</span> : null}
    </div>
  );
}
