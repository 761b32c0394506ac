import { Tabs } from '@base-ui/react/tabs';
import { Icon } from '../look/icon.tsx';
import { copyText } from '../parts/copy.ts';

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

/** The page of a store without sessions: what this is, and three ways to have something to look at. It is live. */
export function FirstRun(): React.ReactNode {
  return (
    <div className="screen first" data-part="first-run">
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
          <Snippet text="npx reprise import runs.jsonl" />
        </section>
      </div>
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
