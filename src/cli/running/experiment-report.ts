import { existsSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { RepriseError } from '../../core/error.ts';
import { refText } from '../../core/ref.ts';
import type { ExperimentSetResult } from '../../engine/experimenting/experiment-result.ts';
import { experimentJunit, experimentMarkdown } from '../../reading/answers/experiment-report.ts';
import { type ExperimentAnswer, experimentRowAnswer, experimentSummary } from '../../reading/answers/run-answers.ts';
import type { Context } from '../context.ts';
import { exitCodeOfRows, no } from '../exit-code.ts';
import { listOption, type OptionValues, textOption } from '../option-values.ts';
import { readFailure } from '../options/read-failure.ts';
import { type FailUnder, failUnderIn } from '../options/set-options.ts';
import { experimentLines } from '../render/experiment-lines.ts';

/** Where the result of an experiment goes apart from the terminal, and what it must reach. */
export interface Reports {
  readonly markdown: string | undefined;
  readonly junit: string | undefined;
  readonly failUnder: FailUnder;
}

/** Reads the report options; a file that cannot be written is refused before anything is run. */
export function reportsIn(options: OptionValues): Reports {
  const [markdown, junit] = [textOption(options, 'markdown'), textOption(options, 'junit')];
  for (const [flag, path] of Object.entries({ '--markdown': markdown, '--junit': junit }))
    if (path !== undefined && !existsSync(dirname(resolve(path))))
      throw new RepriseError(
        'option.invalid',
        `Cannot write ${flag} ${JSON.stringify(path)}: there is no such folder`,
        {
          hint: 'Create the folder first.',
        },
      );
  return { markdown, junit, failUnder: failUnderIn(listOption(options, 'failUnder')) };
}

/** Prints the result of an experiment, and writes its reports. */
export async function printExperiment(
  { out }: Context,
  result: ExperimentSetResult,
  { markdown, junit }: Reports,
): Promise<void> {
  if (markdown !== undefined) writeReport(markdown, experimentMarkdown(result));
  if (junit !== undefined) writeReport(junit, experimentJunit(result));
  const summary = experimentSummary(result);
  const { rows } = result;
  if (out.json === 'object')
    await out.value({ ...summary, branches: rows.map(experimentRowAnswer) } satisfies ExperimentAnswer);
  else if (out.json === 'lines') await out.value(summary);
  else {
    await out.lines(experimentLines(out, result));
    if (rows.some(({ errorCode }) => errorCode === 'effect.refused'))
      out.say(
        'An experiment makes no irreversible call without permission. Use --simulate TOOL=FILE.json to answer it, --effects reuse to take recorded answers, or --effects TOOL=run to make it.',
      );
    out.next(...nextCommands(result));
  }
}

function writeReport(path: string, text: string): void {
  try {
    writeFileSync(path, text);
  } catch (error) {
    throw new RepriseError('option.invalid', `Cannot write ${JSON.stringify(path)}: ${readFailure(error)}`, {
      hint: 'The result is kept: print it again with "reprise experiment show ID".',
      cause: error,
    });
  }
}

function nextCommands({ id, rows, sessions }: ExperimentSetResult): string[] {
  const best = rows.find(({ passed }) => passed === true) ?? rows[0];
  const original = sessions.find(({ session }) => session === best?.session)?.original;
  if (best === undefined || original === undefined || best.branch === '') return [`reprise experiment show ${id}`];
  const diff = `reprise diff ${original} ${refText({ session: best.session, branch: best.branch })}`;
  return [diff, `reprise experiment show ${id}`];
}

/** Returns the exit code: that of the rows, or 1 if a variant passes less often than it must. */
export function exitCodeOfExperiment(
  { out }: Context,
  { rows, variants }: ExperimentSetResult,
  { failUnder }: Reports,
): number {
  const under = failUnder.flatMap(({ variant, rate }) => {
    const meant = variants.filter((held) => variant === undefined || held.variant === variant);
    if (meant.length === 0) return [`There is no variant "${variant}" for --fail-under.`];
    return meant.flatMap((held) => {
      if (held.checked === 0) return [`"${held.variant}" was not checked, so --fail-under ${rate} is not reached.`];
      const share = held.passed / held.checked;
      return share >= rate ? [] : [`"${held.variant}" passes ${held.passed} of ${held.checked}, less than ${rate}.`];
    });
  });
  for (const line of under) out.say(line);
  return under.length > 0 ? no : exitCodeOfRows(rows);
}
