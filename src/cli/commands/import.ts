import { Option } from 'commander';
import { RepriseError } from '../../core/error.ts';
import { given } from '../../core/json.ts';
import { refText } from '../../core/ref.ts';
import type { Reprise } from '../../engine/reprise.ts';
import type { Session } from '../../engine/session.ts';
import { plural } from '../../wording/amount.ts';
import { plain } from '../../wording/text.ts';
import type { CommandSpec } from '../command.ts';
import type { Context } from '../context.ts';
import { done } from '../exit-code.ts';
import { textOption } from '../option-values.ts';
import { readFailure } from '../options/read-failure.ts';

/** One imported file, as `reprise import --json` prints it. */
export interface ImportRow {
  readonly file: string;
  readonly session: string;
  readonly ref: string;
  readonly events: number;
}

/** Every imported file as one object. */
interface ImportAnswer {
  readonly imported: readonly ImportRow[];
}

/** `reprise import`. */
export const importRuns: CommandSpec = {
  arguments: [{ name: '<files...>', about: 'saved runs of other systems; - is stdin' }],
  options: [
    new Option('--format <format>', 'format of the files: shipit (default: detected)'),
    new Option('--session <id>', "id of the new session (default: the file's own id)"),
  ],
  examples: [
    'reprise import run-abc.json',
    'reprise import run-abc.json --format shipit --session imported',
    'cat run-abc.json | reprise import - --session from-stdin',
  ],
  run: async (context, files, options) => {
    const [format, session] = [textOption(options, 'format'), textOption(options, 'session')];
    if (session !== undefined && files.length > 1)
      throw new RepriseError('import.invalid', `Cannot import ${files.length} files into one session "${session}"`, {
        hint: 'Leave out --session, or import the files one by one.',
      });
    const reprise = await context.open({ create: true });
    const imported: ImportRow[] = [];
    for (const file of files) {
      const created = await importFile(reprise, file, given({ format, session }));
      const { head } = await created.branch();
      const row = { file, session: created.id, ref: refText({ session: created.id }), events: head };
      if (context.out.json === 'object') imported.push(row);
      else await print(context, row);
    }
    if (context.out.json === 'object') await context.out.value({ imported } satisfies ImportAnswer);
    return done;
  },
};

/** Imports one file; an error names the file. */
async function importFile(
  reprise: Reprise,
  file: string,
  options: { readonly format?: string; readonly session?: string },
): Promise<Session> {
  try {
    return await reprise.import(file === '-' ? process.stdin : file, options);
  } catch (error) {
    if (!(error instanceof RepriseError)) throw error;
    const { code, details } = error;
    const where = file === '-' ? 'stdin' : JSON.stringify(file);
    const hint =
      code === 'session.exists'
        ? 'Choose a different id with --session, or delete the session first with "reprise delete-session".'
        : error.hint;
    throw new RepriseError(code, `Cannot import ${where}: ${whyNot(error)}`, {
      ...given({ hint }),
      details,
      cause: error,
    });
  }
}

/** Returns the reason in an error message, without the action, which the new message names. */
function whyNot({ message, cause }: RepriseError): string {
  const isUnread = cause instanceof Error && 'syscall' in cause;
  if (isUnread) return readFailure(cause);
  return message.replace(/^Cannot (?:import|read a saved run): /, '').replace(/^Cannot /, 'cannot ');
}

async function print({ out }: Context, row: ImportRow): Promise<void> {
  if (out.json !== undefined) {
    await out.value(row);
    return;
  }
  const { ref, file, events } = row;
  await out.line(`${out.style('green', plain(ref))} imported from ${plain(file)}: ${plural(events, 'event')}`);
  out.next(`reprise replay ${ref}`);
}
