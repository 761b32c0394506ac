import { Tabs } from '@base-ui/react/tabs';
import { useState } from 'react';
import { complaint } from '../../../src/cli/demo/demo-model.ts';
import type { RepriseError } from '../../../src/core/error.ts';
import { runAddress } from '../address/address.ts';
import { useStudio } from '../frame/studio.ts';
import { Icon } from '../look/icon.tsx';
import { useCell } from '../parts/cell.ts';
import { copyText } from '../parts/copy.ts';
import { Failure } from '../parts/states.tsx';
import { asError, useAnswer } from '../parts/use-answer.ts';

const ways: Readonly<Record<string, string>> = {
  openai: `import { openReprise } from 'reprise';
import { recordOpenAI } from 'reprise/openai';

const reprise = await openReprise();
const session = await reprise.createSession();
const client = recordOpenAI(openai, await session.record());`,
  'ai-sdk': `import { openReprise } from 'reprise';
import { recordAiSdk } from 'reprise/ai-sdk';

const reprise = await openReprise();
const session = await reprise.createSession();
const { generateText } = recordAiSdk(await session.record());`,
  langgraph: `import { openReprise } from 'reprise';
import { RepriseCallbackHandler } from 'reprise/langgraph';

const reprise = await openReprise();
const session = await reprise.createSession();
const callbacks = [new RepriseCallbackHandler(await session.record())];`,
};

/** Imports a file that somebody chose or dropped, and opens its session. */
function useImport(begin: (work: () => Promise<string>) => void): (files: FileList | null) => void {
  const { source, namespace } = useStudio();
  return (files) => {
    const [file] = files ?? [];
    if (file !== undefined) begin(() => source.importFile(namespace, file));
  };
}

/** Lets the agent of the demo run in a new session. Undefined where there is none. */
function useStory(begin: (work: () => Promise<string>) => void): (() => void) | undefined {
  const { source, namespace, rights } = useStudio();
  const { run } = useCell(rights);
  const { value: agents } = useAnswer(run ? 'agents' : undefined, (signal) => source.agents(signal));
  if (agents?.some(({ name }) => name === 'demo') !== true) return undefined;
  return () =>
    begin(async () => {
      const session = await source.createSession(namespace, 'refund');
      const order = { kind: 'resume', agent: 'demo', prompt: complaint } as const;
      await source.startRun({ namespace, session, branch: 'main', seq: 0 }, order, crypto.randomUUID());
      return session;
    });
}

/** Does something that ends in a session, and opens it. While it does, the page stays, whatever arrives. */
function useBeginning(onBeginning: (isBeginning: boolean) => void): {
  readonly begin: (work: () => Promise<string>) => void;
  readonly isBusy: boolean;
  readonly error: RepriseError | undefined;
} {
  const { bar } = useStudio();
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<RepriseError>();
  const begin = (work: () => Promise<string>): void => {
    if (isBusy) return;
    setBusy(true);
    onBeginning(true);
    setError(undefined);
    work()
      .then((session) => {
        onBeginning(false);
        bar.go(runAddress(session, 'main', 'head'));
      })
      .catch((thrown: unknown) => setError(asError(thrown)))
      .finally(() => setBusy(false));
  };
  return { begin, isBusy, error };
}

/** The page of a store without sessions: what this is, and three ways to have something to look at. It is live. */
export function FirstRun({ onBeginning }: { readonly onBeginning: (isBeginning: boolean) => void }): React.ReactNode {
  const { append } = useCell(useStudio().rights);
  const { begin, isBusy, error } = useBeginning(onBeginning);
  const take = useImport(begin);
  const play = useStory(begin);
  return (
    <div
      className="screen first"
      data-part="first-run"
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        if (append) take(event.dataTransfer.files);
      }}
    >
      <h1>Nothing is recorded yet</h1>
      <p className="first-lead">
        Reprise records what an agent does. Here you look at any moment of it, change it, run it on, and read what
        became different.
      </p>
      <div className="first-ways">
        <section>
          <h2>1. Watch a story</h2>
          <p className="dim">A support agent refunds too much. It needs no network and no key.</p>
          <Snippet text="npx reprise demo" />
          {play === undefined ? null : (
            <button type="button" className="button main" data-part="play-story" disabled={isBusy} onClick={play}>
              ▸ Play the story
            </button>
          )}
        </section>
        <section>
          <h2>2. Record your agent</h2>
          <Tabs.Root defaultValue="openai">
            <Tabs.List className="tabs" aria-label="Framework">
              {Object.keys(ways).map((name) => (
                <Tabs.Tab key={name} value={name} className="tab">
                  {name}
                </Tabs.Tab>
              ))}
            </Tabs.List>
            {Object.entries(ways).map(([name, text]) => (
              <Tabs.Panel key={name} value={name}>
                <Snippet text={text} />
              </Tabs.Panel>
            ))}
          </Tabs.Root>
        </section>
        <section>
          <h2>3. Bring what you have</h2>
          <p className="dim">Saved runs of other systems become sessions.</p>
          <Snippet text="npx reprise import run.json" />
          {append ? (
            <label className="first-drop">
              <span>{isBusy ? 'A moment…' : 'Drop a file anywhere here, or choose one'}</span>
              <input type="file" disabled={isBusy} onChange={(event) => take(event.target.files)} />
            </label>
          ) : null}
        </section>
      </div>
      {error === undefined ? null : <Failure error={error} />}
      <p className="faint">This page is live: the first session appears here by itself.</p>
    </div>
  );
}

function Snippet({ text }: { readonly text: string }): React.ReactNode {
  return (
    <div className="snippet">
      <pre>{text}</pre>
      <button type="button" className="quiet" aria-label="Copy" onClick={() => copyText(text, 'it')}>
        <Icon name="copy" />
      </button>
    </div>
  );
}
