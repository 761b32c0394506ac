import { statSync } from 'node:fs';
import { Option } from 'commander';
import { readTestReport } from '../../core/coding/reports/read-report.ts';
import type { TestReport } from '../../core/coding/reports/report.ts';
import { frameworkIn, runsTests } from '../../core/coding/test-command.ts';
import { hasCode, messageOf, RepriseError } from '../../core/error.ts';
import type { Event } from '../../core/event/event.ts';
import { given } from '../../core/json.ts';
import { refText } from '../../core/ref.ts';
import type { Coding } from '../../engine/coding/coding.ts';
import type { TestRunInput } from '../../engine/coding/coding-inputs.ts';
import { codingOn } from '../../reading/answers/coding-answer.ts';
import { plain } from '../../wording/text.ts';
import type { CommandSpec } from '../command.ts';
import type { Context } from '../context.ts';
import { flagOption, textOption } from '../option-values.ts';
import { readReportFile } from '../options/coding-record.ts';
import { type EndedCommand, runCommandThrough } from '../running/recorded-command.ts';

/** The record of a command, as `reprise exec --json` writes it to stderr: stdout is the command's own. */
export interface ExecAnswer {
  readonly ref: string;
  readonly command: readonly string[];
  readonly exitCode: number;
  /** The seq of the recorded test run; null if the command ran no tests. */
  readonly testRun: number | null;
  /** Lists the tests of its report; null without a report. */
  readonly failed: number | null;
  readonly passed: number | null;
  /** Why its report could not be read; null if it could, or none was asked for. */
  readonly reportError: string | null;
}

/** `reprise exec`. */
export const exec: CommandSpec = {
  arguments: [{ name: '<command...>', about: 'command to run, after --' }],
  options: [
    new Option(
      '--session <ref>',
      'session[/branch] to record in; creates a session that does not exist',
    ).makeOptionMandatory(),
    new Option('--run <run>', 'run that it belongs to (default: the open one)'),
    new Option(
      '--report <file>',
      'report of tests that the command writes: vitest or jest JSON, JUnit XML, TAP, pytest, go test -json',
    ),
    new Option('--tests', 'record a test run even if the command is not known to run tests'),
  ],
  exits: 'The exit code of the command; 125 if it could not be recorded.',
  ownFailure: 125,
  examples: ['reprise exec --session work -- node --version'],
  run: async (context, command, options) => {
    const { out } = context;
    out.progress.end();
    context.checkMasking();
    const found = await context.created(textOption(options, 'session') ?? '');
    const coding = codingOn(found);
    const report = textOption(options, 'report');
    const stampBefore = report === undefined ? undefined : stampOf(report);
    const call = await coding.command({ command, ...given({ run: textOption(options, 'run') }) });
    const ended = await runCommandThrough(command);
    const { exitCode, signal, tail } = ended;
    await call.end({ exitCode, output: tail, ...given({ signal: signal ?? undefined }) });
    if (ended.failure !== undefined) out.say(`Cannot run ${plain(command.join(' '))}: ${plain(ended.failure)}`);
    const text = command.join(' ');
    const framework = frameworkIn(text);
    const { found: read, error } = await reportOf({ report, stampBefore, ended, framework });
    const isTest = read !== undefined || report !== undefined || flagOption(options, 'tests') || runsTests(text);
    const about = { command: text, exitCode, call: call.call, ...given({ run: call.run }) };
    const { ran, error: refused } =
      isTest && ended.failure === undefined
        ? await recordTests(coding, {
            ...about,
            ...given({ framework }),
            ...(read ?? { failures: [] }),
            ...(error === undefined ? {} : { finished: false }),
          })
        : {};
    await answer(context, {
      ref: refText(found.ref),
      command,
      exitCode: ended.shellCode,
      testRun: ran?.seq ?? null,
      failed: read?.failures.length ?? null,
      passed: read?.passed?.length ?? null,
      reportError: error ?? refused ?? null,
    });
    return ended.shellCode;
  },
};

/**
 * Records a test run. One whose lists are too long for an event is recorded with its failures alone: the command has run,
 * and its failures count more than the tests that passed.
 */
async function recordTests(
  coding: Coding,
  result: TestRunInput,
): Promise<{ readonly ran?: Event; readonly error?: string }> {
  try {
    return { ran: await coding.testRun(result) };
  } catch (error) {
    if (!hasCode(error, 'limit.exceeded')) throw error;
    const { passed: _passed, skipped: _skipped, ...rest } = result;
    return { ran: await coding.testRun({ ...rest, finished: false }), error: messageOf(error) };
  }
}

async function answer({ out }: Context, told: ExecAnswer): Promise<void> {
  if (out.json !== undefined) process.stderr.write(`${JSON.stringify(told)}\n`);
  const { testRun, failed, passed, reportError, ref, exitCode } = told;
  if (reportError !== null) out.say(`The report was not used: ${plain(reportError)}`);
  if (testRun === null) return;
  const counts = [failed === null ? '' : `${failed} failed`, passed === null ? '' : `${passed} passed`].filter(
    (part) => part !== '',
  );
  // A test run without a list says nothing about tests, so no one should read it as "none failed".
  const read = counts.length === 0 ? `exit code ${exitCode}, and no list of its tests` : counts.join(', ');
  out.say(out.dim(`Recorded a test run at ${ref}@${testRun}: ${read}.`));
  if (counts.length === 0 && reportError === null)
    out.say(out.dim('To record which tests failed, let the command write a report and name it with --report.'));
}

interface Reporting {
  readonly report: string | undefined;
  readonly stampBefore: string | undefined;
  readonly ended: EndedCommand;
  readonly framework: string | undefined;
}

/** Reads the report of a command: the file if one was asked for, else what it printed, as far as that is a report. */
async function reportOf({
  report,
  stampBefore,
  ended,
  framework,
}: Reporting): Promise<{ readonly found?: TestReport; readonly error?: string }> {
  try {
    if (report !== undefined) {
      if (stampOf(report) === stampBefore)
        throw new RepriseError(
          'report.invalid',
          `Cannot use the report ${JSON.stringify(report)}: the command did not write it`,
          {},
        );
      return { found: await readReportFile(report) };
    }
    if (ended.stdout === undefined || ended.stdout.trim() === '') return {};
    const options = framework === 'pytest' ? ({ format: 'pytest' } as const) : {};
    return { found: await readTestReport(ended.stdout, options) };
  } catch (error) {
    if (!(error instanceof RepriseError)) throw error;
    // A command may print anything, but a report that was asked for has to be one.
    return report === undefined ? {} : { error: messageOf(error) };
  }
}

/** Returns when a file was written and how long it is: an old report is not this run's. */
function stampOf(path: string): string | undefined {
  const { mtimeMs, size } = statSync(path, { throwIfNoEntry: false }) ?? {};
  return mtimeMs === undefined ? undefined : `${mtimeMs} ${size}`;
}
