import { existsSync } from 'node:fs';
import { Option } from 'commander';
import { foreignFormats } from '../../adapters/import/foreign-formats.ts';
import { RepriseError } from '../../core/error.ts';
import { given } from '../../core/json.ts';
import type { ForeignFormat } from '../../core/recording/foreign-format.ts';
import { refText } from '../../core/ref.ts';
import type { Imported, ImportFailure, ImportOptions, ImportWarning } from '../../engine/importing/import-options.ts';
import type { Reprise } from '../../engine/reprise.ts';
import { keepHeapSmall } from '../../node/small-heap.ts';
import { discover, type FoundPlace } from '../../node/tool-places.ts';
import { bytesText, plural } from '../../wording/amount.ts';
import { plain } from '../../wording/text.ts';
import type { CommandSpec } from '../command.ts';
import type { Context } from '../context.ts';
import { done, exitCodeOf, no, stopped, failed as storeFailed } from '../exit-code.ts';
import { textOption } from '../option-values.ts';
import { readFailure } from '../options/read-failure.ts';
import { catchSignals } from '../stop-signals.ts';

/** One imported source, as `reprise import --json` prints it. */
export interface ImportRow {
  readonly file: string;
  readonly session: string;
  readonly ref: string;
  readonly format: string;
  /** `imported`, `extended`, `branched` or `unchanged`. */
  readonly outcome: string;
  readonly branches: readonly string[];
  readonly events: number;
  readonly units: number;
  readonly kept: number;
  readonly warnings: readonly ImportWarning[];
  readonly warningCount: number;
  readonly secrets: Readonly<Record<string, number>>;
}

/** A source that could not be imported. */
interface FailedRow {
  readonly file: string;
  readonly error: string;
}

/** Every source as one object. */
interface ImportAnswer {
  readonly imported: readonly ImportRow[];
  readonly failed: readonly FailedRow[];
}

/** `reprise import`. */
export const importRuns: CommandSpec = {
  arguments: [{ name: '[sources...]', about: 'saved runs of other systems: files, folders; - is stdin; or bundles' }],
  options: [
    new Option('--format <format>', 'format of the sources (default: detected)'),
    new Option('--session <id>', "id of the session (default: the source's own id)"),
    new Option('--mask', 'mask secrets in the events and in the kept source'),
    new Option('--follow', 'keep up with one file of lines that is written, until Ctrl-C'),
    new Option('--discover', 'look where tools keep their sessions, and offer them'),
  ],
  exits: '0 every source was imported; 1 some could not be: the rest was',
  examples: [
    'reprise import run-abc.json',
    'reprise import run-abc.json --format shipit --session imported',
    'cat run-abc.json | reprise import - --session from-stdin',
    'reprise import --discover',
  ],
  run: async (context, sources, options) => {
    const format = textOption(options, 'format');
    if (options['discover'] === true) {
      checkDiscovery(sources);
      return offer(context, await discover(await formatsNamed(context, format)));
    }
    const session = textOption(options, 'session');
    checkSources(sources, session, options['follow'] === true);
    checkFiles(sources);
    keepHeapSmall();
    await context.formats();
    const reprise = await context.open({ create: true });
    const controller = new AbortController();
    const restore = options['follow'] === true ? catchSignals(controller) : () => undefined;
    const chosen: ImportOptions = {
      ...given({ format, session }),
      mask: options['mask'] === true,
      follow: options['follow'] === true,
      signal: controller.signal,
    };
    try {
      const code = await importSources(context, reprise, sources, chosen);
      return controller.signal.aborted ? stopped : code;
    } finally {
      restore();
    }
  },
};

/** Returns the formats of this build and of the configuration, or one of them. Looking for sessions needs no store. */
async function formatsNamed(context: Context, format: string | undefined): Promise<readonly ForeignFormat[]> {
  const formats = [...foreignFormats, ...(await context.formats())];
  const found = formats.filter(({ name }) => format === undefined || name === format);
  if (found.length > 0) return found;
  throw new RepriseError('import.invalid', `Cannot look for sessions: there is no format "${format}"`, {
    hint: `Formats: ${formats.map(({ name }) => name).join(', ')}.`,
  });
}

function checkDiscovery([source]: readonly string[]): void {
  if (source !== undefined)
    throw new RepriseError('import.invalid', `Cannot look for sessions in ${JSON.stringify(source)}`, {
      hint: 'Leave out the source: --discover looks where tools keep their sessions. Or leave out --discover.',
    });
}

/** Refuses sources none of which is there, before a store is made for them. */
function checkFiles(sources: readonly string[]): void {
  if (sources.some((source) => source === '-' || existsSync(source))) return;
  throw new RepriseError(
    'import.invalid',
    `Cannot import ${sources.map((source) => JSON.stringify(source)).join(', ')}: no such file`,
  );
}

function checkSources(sources: readonly string[], session: string | undefined, isFollowing: boolean): void {
  if (sources.length === 0)
    throw new RepriseError('import.invalid', 'Cannot import: no source is named', {
      hint: 'Name files or folders, or let "reprise import --discover" look for them.',
    });
  if (session !== undefined && sources.length > 1)
    throw new RepriseError('import.invalid', `Cannot import ${sources.length} files into one session "${session}"`, {
      hint: 'Leave out --session, or import the files one by one.',
    });
  if (isFollowing && sources.length > 1)
    throw new RepriseError('import.invalid', `Cannot follow ${sources.length} files: --follow keeps up with one`, {
      hint: 'Follow each of them with its own command.',
    });
}

async function importSources(
  context: Context,
  reprise: Reprise,
  sources: readonly string[],
  options: ImportOptions,
): Promise<number> {
  const imported: ImportRow[] = [];
  const failed: FailedRow[] = [];
  for (const source of sources) {
    for await (const told of sources.length > 1 ? reported(reprise, source, options) : each(reprise, source, options)) {
      if ('error' in told) failed.push({ file: told.path, error: told.error.message });
      else imported.push(rowOf(told, source));
      if (context.out.json === 'object') continue;
      if ('error' in told) await printFailure(context, told);
      else await print(context, rowOf(told, source), options.mask === true);
    }
  }
  if (context.out.json === 'object') await context.out.value({ imported, failed } satisfies ImportAnswer);
  const last = imported.at(-1);
  if (context.out.json === undefined && last !== undefined) context.out.next(`reprise replay ${last.ref}`);
  return failed.length === 0 ? done : no;
}

const rowOf = ({ path, ...told }: Imported, source: string): ImportRow => {
  const { session, format, outcome, branches, events, units, kept, warnings, warningCount, secrets } = told;
  const file = path ?? source;
  return {
    file,
    session,
    ref: refText({ session }),
    format,
    outcome,
    branches,
    events,
    units,
    kept,
    warnings,
    warningCount,
    secrets,
  };
};

/** Imports one source; an error names it. */
async function* each(
  reprise: Reprise,
  source: string,
  options: ImportOptions,
): AsyncGenerator<Imported | ImportFailure> {
  try {
    yield* reprise.importAll(source === '-' ? process.stdin : source, options);
  } catch (error) {
    if (!(error instanceof RepriseError)) throw error;
    const { code, details } = error;
    const where = source === '-' ? 'stdin' : JSON.stringify(source);
    throw new RepriseError(code, `Cannot import ${where}: ${whyNot(error)}`, {
      ...given({ hint: typedHint(error.hint) }),
      details,
      cause: error,
    });
  }
}

/** Returns a hint of the library with what to type. */
function typedHint(hint: string | undefined): string | undefined {
  return hint
    ?.replace('the option "session"', '--session')
    .replace('a different namespace', '$& with --namespace')
    .replace(/delete the session(?: here)? first/, '$& with "reprise delete-session"');
}

/** Imports one of several sources; one that cannot be imported does not stop the rest. */
async function* reported(
  reprise: Reprise,
  source: string,
  options: ImportOptions,
): AsyncGenerator<Imported | ImportFailure> {
  try {
    yield* each(reprise, source, options);
  } catch (error) {
    if (!(error instanceof RepriseError) || exitCodeOf(error) === storeFailed) throw error;
    yield { path: source, error: new RepriseError(error.code, whyNot(error), { cause: error }) };
  }
}

/** Returns the reason in an error message, without the action, which the new message names. */
function whyNot({ message, cause }: RepriseError): string {
  const isUnread = cause instanceof Error && 'syscall' in cause;
  if (isUnread) return readFailure(cause);
  return message.replace(/^Cannot import(?: "(?:[^"\\]|\\.)*")?: /, '').replace(/^Cannot /, 'cannot ');
}

async function print({ out }: Context, row: ImportRow, isMasked: boolean): Promise<void> {
  if (out.json !== undefined) {
    await out.value(row);
    return;
  }
  const { ref, file, events, outcome, branches, kept, warnings, warningCount, secrets } = row;
  const more = [
    branches.length > 1 ? plural(branches.length, 'branch').replace('branchs', 'branches') : '',
    kept === 0 ? '' : `${plural(kept, 'unit')} kept as it is`.replace('units kept as it is', 'units kept as they are'),
  ].filter((text) => text !== '');
  const what = outcome === 'unchanged' ? 'nothing new' : [plural(events, 'event'), ...more].join(', ');
  const verb = outcome === 'imported' || outcome === 'unchanged' ? 'imported' : outcome;
  await out.line(`${out.style('green', plain(ref))} ${verb} from ${plain(file)}: ${what}`);
  for (const { file: part, at, message } of warnings.slice(0, shownWarnings))
    out.say(
      `  ${row.format === 'bundle' ? '' : `${part === '' ? '' : `${plain(part)} `}unit ${at}: `}${plain(message)}`,
    );
  if (warningCount > shownWarnings) out.say(`  and ${plural(warningCount - shownWarnings, 'more warning')}`);
  const found = Object.entries(secrets).map(([rule, count]) => `${rule} ${count}`);
  if (found.length === 0) return;
  const rules = plain(found.join(', '));
  out.say(
    isMasked ? `  Its secrets are masked (${rules}).` : `  Masking finds secrets in it (${rules}); --mask masks them.`,
  );
}

/** Warnings that are shown of one source; --json has more. */
const shownWarnings = 5;

async function printFailure({ out }: Context, { path, error }: ImportFailure): Promise<void> {
  if (out.json === undefined) out.say(`${plain(path)} was not imported: ${plain(error.message)}`);
  else await out.value({ file: path, error: error.message } satisfies FailedRow);
}

/** Prints the places in which tools keep sessions. */
async function offer({ out }: Context, found: readonly FoundPlace[]): Promise<number> {
  if (out.json !== undefined) await out.value({ found });
  else if (found.length === 0) out.say('No tool that Reprise knows has kept sessions here.');
  else
    for (const { format, folder, files, bytes } of found)
      await out.line(
        `${out.style('green', format)} ${plural(files, 'file')}, ${bytesText(bytes)}: reprise import ${plain(folder)}`,
      );
  return found.length === 0 ? no : done;
}
