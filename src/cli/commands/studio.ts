import { Option } from 'commander';
import { pointText } from '../../core/ref.ts';
import { createNodePlatform } from '../../node/platform.ts';
import { absoluteUrl, shownUrl } from '../../node/store-location.ts';
import type { LogLine, Right, Server } from '../../server.ts';
import { examined } from '../answering/diagnosis.ts';
import type { CommandSpec } from '../command.ts';
import type { Context } from '../context.ts';
import { done } from '../exit-code.ts';
import { flagOption, numberOption, type OptionValues } from '../option-values.ts';
import { wholeNumber } from '../options/number-option.ts';
import { openPage } from '../running/open-page.ts';
import { studioAgents } from '../running/studio-agents.ts';
import { catchSignals } from '../stop-signals.ts';

/** The address of a studio, as `reprise studio --json` prints it when it is ready. */
export interface StudioAnswer {
  /** With the token in its fragment. */
  readonly url: string;
  /** The store that it shows, without a password. */
  readonly store: string;
}

/** `reprise studio`. */
export const studio: CommandSpec = {
  arguments: [{ name: '[ref]', about: 'where to open: a session, branch or point (default: the list of sessions)' }],
  options: [
    new Option('--port <number>', 'port to listen on (default: a free one)').argParser(wholeNumber),
    new Option('--no-open', 'print the address and do not open a browser'),
    new Option('--admin', 'let the page erase payloads and delete branches and sessions'),
  ],
  examples: ['reprise studio', 'reprise studio demo@12', 'reprise studio --no-open --port 0 --json'],
  exits: 'It runs until it gets SIGTERM or Ctrl-C. Runs that it started are stopped with it, and end as aborted.',
  run: async (context, [ref], options) => {
    const stop = new AbortController();
    const restore = catchSignals(stop);
    const agents = await studioAgents(context);
    const path = ref === undefined ? '/' : await pathTo(context, ref);
    const { makeToken } = await import('../../server.ts');
    const { serveWith } = await import('../../serve-store.ts');
    const platform = createNodePlatform();
    const { token, record } = makeToken({ rights: rightsOf(options) }, platform);
    const { location } = context.chosenStore();
    const server = await serveWith(
      { store: absoluteUrl(location), port: numberOption(options, 'port') ?? 0, agents, log },
      { tokens: [record], examine: (reprise) => examined(context, reprise) },
    );
    const close = await announce(context, { server, path, token, opens: options['open'] !== false });
    try {
      await new Promise((resolve) => {
        if (stop.signal.aborted) resolve(undefined);
        else stop.signal.addEventListener('abort', resolve);
      });
    } finally {
      close();
      await server.close();
      restore();
    }
    return done;
  },
};

function rightsOf(options: OptionValues): readonly Right[] {
  return flagOption(options, 'admin') ? ['admin'] : ['read', 'append', 'run'];
}

/** Returns the address of a ref inside the studio. */
async function pathTo(context: Context, text: string): Promise<string> {
  const { ref } = await context.at(text);
  const { session, branch, at } = ref;
  return `/s/${encodeURIComponent(session)}/${pointText({ branch, at })}`;
}

interface Announced {
  readonly server: Server;
  readonly path: string;
  readonly token: string;
  readonly opens: boolean;
}

/** Prints the address, and opens it where a person sits. Returns a function that cleans up. */
async function announce(context: Context, { server, path, token, opens }: Announced): Promise<() => void> {
  const { out } = context;
  const namespace = context.chosenNamespace();
  const query = namespace === 'default' ? '' : `?namespace=${encodeURIComponent(namespace)}`;
  const url = `${server.url}${path}${query}#token=${token}`;
  const store = shownUrl(context.chosenStore().location);
  if (out.json !== undefined) await out.value({ url, store } satisfies StudioAnswer);
  else await out.lines([`The studio of ${store} is at`, `  ${out.bold(url)}`, out.dim('Press Ctrl-C to stop it.')]);
  await out.flush();
  return opens && out.json === undefined && process.stdout.isTTY ? openPage(url) : () => undefined;
}

/** Writes only what went wrong: a person looks at the page, not at calls. */
function log(line: LogLine): void {
  if (line.level === 'error') process.stderr.write(`${JSON.stringify({ time: new Date().toISOString(), ...line })}\n`);
}
