import '../look/drawer.css';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import type { Edit } from '../../../src/core/view/edit.ts';
import { runAddress } from '../address/address.ts';
import { refOf, useStudio } from '../frame/studio.ts';
import type { EventIndex } from '../history/event-index.ts';
import { keySign, useActions } from '../keys/actions.ts';
import { Icon } from '../look/icon.tsx';
import { ContextView } from '../panels/context-panel.tsx';
import { announce } from '../parts/announcer.ts';
import { useCell } from '../parts/cell.ts';
import { copyText } from '../parts/copy.ts';
import { Fading, Failure } from '../parts/states.tsx';
import { asError, useAnswer } from '../parts/use-answer.ts';
import type { PointName } from '../source/studio-source.ts';
import { type Draft, editText, emptyDraft, keepDraft, keptDraft, variantsOf } from './draft.ts';
import { EditEditor } from './edit-editor.tsx';
import { Foreseen, Preview } from './foreseen.tsx';
import { forkCommand } from './fork-command.ts';
import { orderOf, type RunMode } from './run-order.ts';
import { RunSettings } from './run-settings.tsx';

/** The properties of the drawer. */
export interface ForkDrawerProps {
  readonly point: PointName;
  readonly head: number;
  readonly index: EventIndex;
  readonly first: { readonly edit: Edit | undefined; readonly at: number } | undefined;
  /** The first edit is in the draft: it must not be added once more, at this point or at one that is opened next. */
  readonly onTaken: () => void;
  readonly onClose: () => void;
}

/** Fork here: what to change, what the model will see, what becomes of the recorded calls, and how to run it. */
export function ForkDrawer({ point, head, index, first, onTaken, onClose }: ForkDrawerProps): React.ReactNode {
  const studio = useStudio();
  const { source, bar, rights } = studio;
  const { append, run: mayRun, whyNoRuns } = useCell(rights);
  const isAway = useCell(studio.away) !== undefined;
  const ref = refOf(point);
  const [draft, setDraft] = useState<Draft>(() => keptDraft(ref));
  const [editing, setEditing] = useState<number>();
  const [failure, setFailure] = useState<ReturnType<typeof asError>>();
  const [isBusy, setBusy] = useState(false);
  const box = useRef<HTMLElement>(null);
  const change = (part: Partial<Draft>): void => setDraft((old) => ({ ...old, ...part }));
  // Before anything else can happen to the page, such as a reload.
  useLayoutEffect(() => keepDraft(ref, draft), [ref, draft]);
  useEffect(() => {
    if (first?.edit === undefined) return;
    const { edit } = first;
    setDraft((old) => {
      setEditing(old.edits.length);
      return { ...old, edits: [...old.edits, edit] };
    });
    onTaken();
  }, [first?.at]);
  useEffect(() => {
    const before = document.activeElement;
    box.current?.focus();
    return () => (before instanceof HTMLElement ? before.focus() : undefined);
  }, []);
  const { edits } = draft;
  const edited = useSettled(edits, 250);
  const done = (branch: string, at: number | 'head'): void => {
    keepDraft(ref, emptyDraft);
    onClose();
    bar.go(runAddress(point.session, branch, at));
  };
  const attempt = (work: () => Promise<void>): void => {
    if (isAway) return announce('The server does not answer: the draft is kept, try again when it is back');
    setBusy(true);
    setFailure(undefined);
    work()
      .catch((error: unknown) => setFailure(asError(error)))
      .finally(() => setBusy(false));
  };
  const forkOnly = (): void =>
    attempt(async () => {
      const made = await source.fork(point, {
        name: draft.name || undefined,
        reason: draft.reason || undefined,
        edits,
      });
      announce(`Forked ${made.branch}`);
      done(made.branch, made.head);
    });
  const start = (mode: RunMode): void =>
    attempt(async () => {
      const started = await source.startRun(point, orderOf(draft, mode), crypto.randomUUID());
      studio.runs.set([started, ...studio.runs.value.filter((run) => run.id !== started.id)]);
      announce(mode === 'experiment' ? 'The experiment began' : 'The run began');
      if (started.branch !== null) done(started.branch, 'head');
      else {
        keepDraft(ref, emptyDraft);
        onClose();
        bar.go({ screen: 'runs' });
      }
    });
  const isHead = point.seq === head;
  const variants = variantsOf(draft);
  // Edits are history, and starting a run is not a right to write it.
  const mayFork = mayRun && (append || edits.length === 0);
  const canGoOn = isHead && edits.every(({ kind }) => kind === 'prompt');
  useActions([
    { id: 'back', name: 'Close the drawer', keys: ['Escape'], group: 'Page', run: onClose },
    {
      id: 'run-fork',
      name: 'Fork and run',
      keys: ['Mod+Enter'],
      group: 'Change',
      run: mayFork && !isBusy ? () => start(canGoOn && edits.length === 0 ? 'resume' : 'fork') : undefined,
    },
  ]);
  return (
    <section
      ref={box}
      className="drawer float"
      role="region"
      aria-label={`Fork at ${ref}`}
      tabIndex={-1}
      data-part="drawer"
    >
      <header className="drawer-head">
        <h2>
          <Icon name="fork" /> Fork at {point.branch}@{point.seq}
        </h2>
        <span className="spacer" />
        <button type="button" className="quiet" aria-label="Close" onClick={onClose}>
          ✕
        </button>
      </header>
      <div className="drawer-body">
        <Edits draft={draft} editing={editing} onEditing={setEditing} onDraft={change} index={index} point={point} />
        <section aria-label="What the model will see">
          <h3>What the model will see</h3>
          <EditedContext point={point} edits={edited} />
        </section>
        <Preview point={point} draft={draft} edits={edited}>
          {(preview) => (
            <>
              <Foreseen
                preview={preview}
                simulate={draft.simulate}
                onSimulate={(simulate) => change({ simulate })}
                mayRun={mayRun}
              />
              {mayRun ? <RunSettings draft={draft} onDraft={change} /> : <NoAgents why={whyNoRuns} />}
            </>
          )}
        </Preview>
        <div className="drawer-names">
          <label>
            <span className="label">name</span>
            <input
              className="field"
              value={draft.name}
              placeholder="made up if empty"
              onChange={(event) => change({ name: event.target.value })}
            />
          </label>
          <label className="drawer-reason">
            <span className="label">why</span>
            <input
              className="field"
              value={draft.reason}
              placeholder="it guessed the amount"
              onChange={(event) => change({ reason: event.target.value })}
            />
          </label>
        </div>
        {failure === undefined ? null : <Failure error={failure} />}
      </div>
      <footer className="drawer-foot">
        {append ? (
          <button type="button" className="button" disabled={isBusy} onClick={forkOnly} data-part="only-fork">
            Only fork
          </button>
        ) : null}
        {mayRun ? (
          <>
            <button
              type="button"
              className="button main"
              disabled={isBusy || !mayFork}
              onClick={() => start('fork')}
              data-part="fork-and-run"
            >
              Fork and run <kbd className="key">{keySign('Mod+Enter')}</kbd>
            </button>
            {canGoOn ? (
              <button type="button" className="button" disabled={isBusy} onClick={() => start('resume')}>
                Go on without a fork
              </button>
            ) : null}
            <button
              type="button"
              className="button"
              disabled={isBusy || !mayFork || variants.length < 2}
              title={variants.length < 2 ? 'An experiment compares an edit with the original' : undefined}
              onClick={() => start('experiment')}
            >
              Experiment{variants.length < 2 ? '' : ` ${variants.length} × ${draft.repeats || 1}`}
            </button>
            {edits.length > 0 || index.word('run', point.seq) === '' ? null : (
              <button
                type="button"
                className="button"
                disabled={isBusy}
                title="Run this run once more from its beginning, on a new branch"
                onClick={() => start('retry')}
              >
                Try the run again
              </button>
            )}
          </>
        ) : null}
        <span className="spacer" />
        <button
          type="button"
          className="quiet mono"
          title="Copy the command"
          onClick={() => copyText(forkCommand(ref, draft), 'the command')}
        >
          $ reprise fork … <Icon name="copy" />
        </button>
      </footer>
    </section>
  );
}

/** Returns a value once it has not changed for a moment. */
function useSettled<Value>(value: Value, ms: number): Value {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}

interface EditsProps {
  readonly draft: Draft;
  readonly editing: number | undefined;
  readonly onEditing: (at: number | undefined) => void;
  readonly onDraft: (part: Partial<Draft>) => void;
  readonly index: EventIndex;
  readonly point: PointName;
}

/** The edits, each with a way to change it and to take it back; and what else can be changed. */
function Edits({ draft: { edits }, editing, onEditing, onDraft, index, point }: EditsProps): React.ReactNode {
  const agent = index.word('agent', point.seq);
  const add = (edit: Edit): void => {
    onDraft({ edits: [...edits, edit] });
    onEditing(edits.length);
  };
  const kinds: readonly (readonly [string, Edit])[] = useMemo(
    () => [
      ['prompt', { kind: 'prompt', text: '' }],
      ['system', { kind: 'system', text: '' }],
      ['model', { kind: 'model', model: '' }],
      ['tools', { kind: 'tools', tools: [] }],
      [
        'message',
        { kind: 'append', event: { type: 'message.added', data: { message: { role: 'user', content: '' } } } },
      ],
      ['state', { kind: 'state', key: 'key', value: null, ...(agent === '' ? {} : { agent }) }],
      ['belief', { kind: 'belief', belief: { topic: '', claim: '' }, ...(agent === '' ? {} : { agent }) }],
    ],
    [agent],
  );
  return (
    <section aria-label="Edits">
      <ol className="edits">
        {edits.map((edit, at) => {
          const { what, value } = editText(edit);
          return (
            <li key={`${at} ${edit.kind}`}>
              <div className="edit-line">
                <span className="context-mark" aria-hidden="true">
                  ~
                </span>
                <span className="edit-what">{what}</span>
                <span className="dim edit-value">{editing === at ? '' : value}</span>
                <button
                  type="button"
                  className="quiet"
                  aria-label={`Change ${what}`}
                  aria-expanded={editing === at}
                  onClick={() => onEditing(editing === at ? undefined : at)}
                >
                  ✎
                </button>
                <button
                  type="button"
                  className="quiet"
                  aria-label={`Take back ${what}`}
                  onClick={() => {
                    onDraft({ edits: edits.filter((_, index) => index !== at) });
                    onEditing(undefined);
                  }}
                >
                  ✕
                </button>
              </div>
              {editing === at ? (
                <EditEditor edit={edit} onEdit={(next) => onDraft({ edits: edits.with(at, next) })} />
              ) : null}
            </li>
          );
        })}
      </ol>
      <div className="edit-kinds">
        {kinds.map(([name, edit]) => (
          <button key={name} type="button" className="quiet" onClick={() => add(edit)}>
            + {name}
          </button>
        ))}
      </div>
    </section>
  );
}

/** The context of the edited point, as the fork will read it. */
function EditedContext({
  point,
  edits,
}: {
  readonly point: PointName;
  readonly edits: readonly Edit[];
}): React.ReactNode {
  const { source } = useStudio();
  const { value, error, isStale } = useAnswer(`edited ${refOf(point)} ${JSON.stringify(edits)}`, (signal) =>
    source.context(point, { edits }, signal),
  );
  if (error !== undefined) return <Failure error={error} />;
  if (value === undefined) return null;
  return (
    <Fading isStale={isStale}>
      <ContextView point={point} answer={value.value} cuts={value.cuts} onGo={() => undefined} onChange={undefined} />
    </Fading>
  );
}

const configLines = `import { defineConfig } from 'reprise';
import { support } from './support.ts';

export default defineConfig({
  agents: { support },
});`;

/** Why nothing can be run here, and the lines that are missing. */
function NoAgents({ why }: { readonly why: string }): React.ReactNode {
  return (
    <section className="no-agents">
      <h3>Running it</h3>
      <p className="dim">{why === '' ? 'This token may not start runs.' : why}</p>
      <pre>{configLines}</pre>
    </section>
  );
}
