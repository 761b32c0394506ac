import { Option } from 'commander';
import { RepriseError } from '../../core/error.ts';
import { given } from '../../core/json.ts';
import { limits } from '../../core/limits.ts';
import { absoluteUrl, shownUrl } from '../../node/store-location.ts';
import type { LogLine, ServeOptions, Server } from '../../server.ts';
import { examined } from '../answering/diagnosis.ts';
import type { CommandSpec } from '../command.ts';
import type { Context } from '../context.ts';
import { done } from '../exit-code.ts';
import { collect, flagOption, listOption, numberOption, type OptionValues, textOption } from '../option-values.ts';
import { wholeNumber } from '../options/number-option.ts';
import { servedAgents } from '../running/studio-agents.ts';
import { catchSignals } from '../stop-signals.ts';

/** `reprise serve`. */
export const serve: CommandSpec = {
  options: [
    new Option('--host <address>', 'address to listen on (default: 127.0.0.1)').env('REPRISE_HOST'),
    new Option('--port <number>', 'port to listen on, 0 for a free one (default: 7717)')
      .env('REPRISE_PORT')
      .argParser(wholeNumber),
    new Option('--tls-cert <file>', 'certificate, as PEM; read again on SIGHUP').env('REPRISE_TLS_CERT'),
    new Option('--tls-key <file>', 'key of the certificate, as PEM').env('REPRISE_TLS_KEY'),
    new Option('--insecure', 'listen without TLS where other machines reach it').env('REPRISE_INSECURE'),
    new Option('--host-name <name>', 'name by which clients may call (repeatable)')
      .env('REPRISE_HOST_NAME')
      .argParser(collect),
    new Option('--agents', 'let tokens with the right "run" start the agents of reprise.config').env('REPRISE_AGENTS'),
    new Option('--no-studio', 'serve no pages, only calls').env('REPRISE_NO_STUDIO'),
    new Option('--open-metrics', 'show /metrics without a token').env('REPRISE_OPEN_METRICS'),
    new Option('--rate <calls>', `calls of one token in a second (default: ${limits.serverCallsPerSecondMax})`)
      .env('REPRISE_RATE')
      .argParser(wholeNumber),
    new Option('--grace <ms>', `wait so long for calls under way when stopping (default: ${limits.serverGraceMsMax})`)
      .env('REPRISE_GRACE')
      .argParser(wholeNumber),
    new Option('--durability <kind>', 'disk survives power loss, process is faster')
      .env('REPRISE_DURABILITY')
      .choices(['disk', 'process']),
  ],
  examples: ['reprise serve', 'reprise serve --port 0 --json', 'reprise serve --tls-cert cert.pem --tls-key key.pem'],
  exits: 'It runs until it gets SIGTERM or Ctrl-C, and ends when the calls under way have ended.',
  run: async (context, _values, options) => {
    const stop = new AbortController();
    const restore = catchSignals(stop);
    const agents = flagOption(options, 'agents') ? await servedAgents(context) : undefined;
    const { serveWith } = await import('../../serve-store.ts');
    const store = servedStore(context);
    const server = await serveWith(
      { ...optionsOf(options), ...given({ agents }), store: store.url, log },
      { openMetrics: flagOption(options, 'openMetrics'), examine: (reprise) => examined(context, reprise) },
    );
    const renew = (): void => void server.renew().catch((error: unknown) => log(failedRenewal(error)));
    process.on('SIGHUP', renew);
    try {
      await announce(context, server, store.shown);
      await new Promise((resolve) => {
        if (stop.signal.aborted) resolve(undefined);
        else stop.signal.addEventListener('abort', resolve);
      });
      context.out.say('Stopping: waiting for the calls under way …');
    } finally {
      await server.close();
      process.off('SIGHUP', renew);
      restore();
    }
    return done;
  },
};

/** The address of a server, as `reprise serve --json` prints it when it is ready. */
export interface ServeAnswer {
  readonly url: string;
  /** The store that it serves, without a password. */
  readonly store: string;
}

function servedStore(context: Context): { readonly url: string; readonly shown: string } {
  const { location } = context.chosenStore();
  if (location.kind === 'memory')
    throw new RepriseError('store.unsupported', 'Cannot serve a store in memory: nobody could make a token for it', {
      hint: 'Serve sqlite:PATH or postgres://…, or pass a store of your program to serve() of reprise/server.',
    });
  return { url: absoluteUrl(location), shown: shownUrl(location) };
}

function optionsOf(options: OptionValues): ServeOptions {
  const tls = tlsOf(textOption(options, 'tlsCert'), textOption(options, 'tlsKey'));
  const durability = textOption(options, 'durability');
  const hostNames = listOption(options, 'hostName');
  return {
    insecure: flagOption(options, 'insecure'),
    studio: options['studio'] !== false,
    ...given({
      host: textOption(options, 'host'),
      port: numberOption(options, 'port'),
      callsPerSecond: numberOption(options, 'rate'),
      graceMs: numberOption(options, 'grace'),
      tls,
      hostNames: hostNames.length === 0 ? undefined : hostNames,
    }),
    ...(durability === 'disk' || durability === 'process' ? { durability } : {}),
  };
}

/** A certificate without its key, or a key alone, would leave the server without TLS. */
function tlsOf(cert: string | undefined, key: string | undefined): { cert: string; key: string } | undefined {
  if (cert === undefined && key === undefined) return undefined;
  if (cert !== undefined && key !== undefined) return { cert, key };
  throw new RepriseError('option.invalid', 'Cannot serve with TLS: it needs a certificate and its key', {
    hint: 'Give both --tls-cert and --tls-key.',
  });
}

async function announce({ out }: Context, { url }: Server, store: string): Promise<void> {
  const answer: ServeAnswer = { url, store };
  if (out.json !== undefined) await out.value(answer);
  else {
    await out.lines([`Serving ${store} at ${out.bold(url)}`]);
    out.next('reprise token create --can read,append');
  }
  await out.flush();
}

/** Writes a line of the log to stderr, as JSON. */
function log(line: LogLine): void {
  process.stderr.write(`${JSON.stringify({ time: new Date().toISOString(), ...line })}\n`);
}

function failedRenewal(error: unknown): LogLine {
  return { level: 'error', message: 'The certificate was not renewed', error: String(error) };
}
