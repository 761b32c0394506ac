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
import { readFailure } from '../options/read-failure.ts';

/** `reprise import`. */
export const importRuns: CommandSpec = {
  arguments: [{ name: '<files...>', about: 'saved runs of another system; - is stdin' }],
  options: [
    new Option('--format <format>', 'what they are: shipit; told from the file if left out'),
    new Option('--session <id>', "what the session is called (default: the file's own name for itself)"),
  ],
  examples: [
    'reprise import run-abc.json',
    'reprise import run-abc.json --format shipit --session imported',
    'cat run-abc.json | reprise import - --session from-stdin',
  ],
  run: async (context, files, options) => {
    const { format, session } = options as { readonly format?: string; readonly session?: string };
    if (session !== undefined && files.length > 1)
      throw new RepriseError('import.invalid', `Cannot import ${files.length} files into one session "${session}"`, {
        hint: 'Leave --session out, or import them one by one.',
      });
    const reprise = await context.open({ create: true });
    const chosen = given({ format, session });
    const imported: object[] = [];
    for (const file of files) {
      const made = await importFile(reprise, file, chosen);
      const { head } = await made.branch();
      const told = { file, session: made.id, ref: refText({ session: made.id }), events: head };
      if (context.out.json === 'object') imported.push(told);
      else await tell(context, told);
    }
    if (context.out.json === 'object') await context.out.value({ imported });
    return done;
  },
};

/** What is wrong with a file is told with its name. */
async function importFile(
  reprise: Reprise,
  file: string,
  options: { readonly format?: string; readonly session?: string },
): Promise<Session> {
  try {
    return await reprise.import(file === '-' ? process.stdin : file, options);
  } catch (error) {
    if (!(error instanceof RepriseError)) throw error;
    const { code, hint, details } = error;
    const where = file === '-' ? 'stdin' : JSON.stringify(file);
    const isExisting = code === 'session.exists';
    const more = isExisting ? 'Name another one with --session, or "reprise delete-session" it first.' : hint;
    throw new RepriseError(code, `Cannot import ${where}: ${whyNot(error)}`, {
      ...given({ hint: more }),
      details,
      cause: error,
    });
  }
}

/** What was the case, without what was attempted: that is said already. */
function whyNot({ message, cause }: RepriseError): string {
  const isUnread = cause instanceof Error && 'syscall' in cause;
  if (isUnread) return readFailure(cause);
  return message.replace(/^Cannot (?:import|read a saved run): /, '').replace(/^Cannot /, 'cannot ');
}

interface Imported {
  readonly file: string;
  readonly session: string;
  readonly ref: string;
  readonly events: number;
}

async function tell({ out }: Context, told: Imported): Promise<void> {
  if (out.json !== undefined) {
    await out.value(told);
    return;
  }
  await out.line(
    `${out.style('green', plain(told.ref))} imported from ${plain(told.file)}: ${plural(told.events, 'event')}`,
  );
  out.next(`reprise replay ${told.ref}`);
}
