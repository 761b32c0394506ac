import { createReadStream } from 'node:fs';
import { Option } from 'commander';
import { readTestReport } from '../../core/coding/reports/read-report.ts';
import type { TestReport } from '../../core/coding/reports/report.ts';
import { RepriseError } from '../../core/error.ts';
import type { Event, Outcome } from '../../core/event/event.ts';
import { given } from '../../core/json.ts';
import type { Coding } from '../../engine/coding/coding.ts';
import { collect, listOption, numberOption, type OptionValues, textOption } from '../option-values.ts';
import { inputText } from './input-text.ts';
import { jsonArgument } from './json-input.ts';
import { wholeNumber } from './number-option.ts';
import { readFailure } from './read-failure.ts';

/** The options of `reprise coding record`. */
export const recordOptions: readonly Option[] = [
  new Option('--run <run>', 'run that it belongs to (default: the open one)'),
  new Option('--details <text>', 'more about a goal'),
  new Option('--key <key>', 'name of a constraint'),
  new Option('--value <json>', 'value of a constraint, as JSON'),
  new Option('--strength <strength>', 'strength of a constraint').choices(['hard', 'soft']),
  new Option('--command <command>', 'test command that ran'),
  new Option('--exit-code <n>', 'its exit code').argParser(wholeNumber),
  new Option('--framework <name>', 'its framework: pytest, vitest, jest, node, go …'),
  new Option('--report <file>', 'its report: vitest or jest JSON, JUnit XML, TAP, pytest, go test -json'),
  new Option('--failed <test>', 'test that failed; repeatable').argParser(collect),
  new Option('--passed <test>', 'test that passed; repeatable').argParser(collect),
  new Option('--diff <file>', 'unified diff of a patch; - is stdin'),
  new Option('--before <file>', 'file with the content before a patch'),
  new Option('--after <file>', 'file with the content after a patch'),
  new Option('--reason <text>', 'reason for a decision or a risk'),
  new Option('--source <text>', 'origin of evidence or a risk'),
  new Option('--content <text>', 'content of evidence or a risk'),
  new Option('--event <event>', 'event that a risk sets aside, by seq or id'),
  new Option('--outcome <outcome>', 'how a run ended').choices(['ok', 'error', 'aborted', 'interrupted', 'budget']),
];

type Recorder = (coding: Coding, text: string | undefined, options: OptionValues) => Promise<Event>;

/** The kinds of events that can be recorded from a shell. */
export const recorders: Readonly<Record<string, Recorder>> = {
  start: (coding, title, options) => coding.startRun(given({ title, run: textOption(options, 'run') })),
  end: (coding, result, options) =>
    coding.endRun(
      given({
        result,
        run: textOption(options, 'run'),
        outcome: textOption(options, 'outcome') as Outcome | undefined,
      }),
    ),
  goal: (coding, title, options) =>
    coding.goal({ title: need('goal', 'a title', title), ...of(options, { details: 'description' }) }),
  constraint: (coding, text, options) => {
    const value = textOption(options, 'value');
    const key = need('constraint', '--key', textOption(options, 'key') ?? text);
    const strength = textOption(options, 'strength') as 'hard' | 'soft' | undefined;
    return coding.constraint({
      key,
      ...runOf(options),
      ...given({ text, strength, value: value === undefined ? undefined : jsonArgument(value) }),
    });
  },
  test: recordTest,
  patch: (coding, file, options) => {
    const [diff, before, after] = (['diff', 'before', 'after'] as const).map((name) => {
      const path = textOption(options, name);
      return path === undefined ? undefined : fileText(name, path);
    });
    const path = need('patch', 'a file', file);
    if (diff === undefined && after === undefined) need('patch', '--diff or --after', undefined);
    return coding.patch({ file: path, ...runOf(options), ...given({ diff, before, after }) });
  },
  decision: (coding, text, options) =>
    coding.decision({ decision: need('decision', 'its text', text), ...of(options, { reason: 'reason' }) }),
  procedure: (coding, text, options) =>
    coding.procedure({ text: need('procedure', 'its text', text), ...runOf(options) }),
  evidence: (coding, title, options) =>
    coding.evidence({ ...given({ title }), ...of(options, { content: 'content', source: 'source' }) }),
  risk: (coding, title, options) =>
    coding.risk({
      title: need('risk', 'a title', title),
      ...of(options, { content: 'content', source: 'source', reason: 'reason', event: 'event' }),
    }),
  fact: (coding, text, options) => coding.fact({ text: need('fact', 'its text', text), ...runOf(options) }),
};

async function recordTest(coding: Coding, text: string | undefined, options: OptionValues): Promise<Event> {
  const command = need('test', '--command', textOption(options, 'command') ?? text);
  const exitCode = numberOption(options, 'exitCode');
  if (exitCode === undefined) need('test', '--exit-code', undefined);
  const report = textOption(options, 'report');
  const read: TestReport = report === undefined ? { failures: [] } : await readReportFile(report);
  const passed = [...(read.passed ?? []), ...listOption(options, 'passed')];
  const isListed = read.passed !== undefined || passed.length > 0;
  const failures = [...read.failures, ...listOption(options, 'failed').map((testId) => ({ testId }))];
  const framework = textOption(options, 'framework') ?? read.framework;
  return coding.testRun({
    ...read,
    ...runOf(options),
    ...given({ framework }),
    command,
    exitCode: exitCode ?? 0,
    failures,
    ...(isListed ? { passed } : {}),
  });
}

/** Reads a report of tests from a file, piece by piece. */
export async function readReportFile(path: string): Promise<TestReport> {
  try {
    return await readTestReport(createReadStream(path));
  } catch (error) {
    if (error instanceof RepriseError) throw error;
    throw new RepriseError('report.invalid', `Cannot read the report ${JSON.stringify(path)}: ${readFailure(error)}`, {
      hint: 'Check the path, and that the command wrote it.',
      cause: error,
    });
  }
}

function fileText(option: string, path: string): string {
  try {
    return inputText(path);
  } catch (error) {
    if (error instanceof RepriseError) throw error;
    throw new RepriseError('option.invalid', `Cannot read --${option} ${JSON.stringify(path)}: ${readFailure(error)}`, {
      hint: 'Check the path.',
      cause: error,
    });
  }
}

/** Returns the run that an event belongs to, if it is named. */
function runOf(options: OptionValues): { readonly run?: string } {
  return given({ run: textOption(options, 'run') });
}

/** Returns the run and other text options, under the names that the verb has for them. */
function of<Name extends string>(
  options: OptionValues,
  names: Readonly<Record<string, Name>>,
): Partial<Record<Name | 'run', string>> {
  const found = Object.entries<string>({ run: 'run', ...names }).map(
    ([flag, name]) => [name, textOption(options, flag)] as const,
  );
  return Object.fromEntries(found.filter(([, value]) => value !== undefined)) as Partial<Record<Name | 'run', string>>;
}

function need(kind: string, what: string, value: string | undefined): string {
  if (value !== undefined) return value;
  throw new RepriseError('option.invalid', `Cannot record a ${kind}: it needs ${what}`, {
    hint: `See "reprise coding --help".`,
  });
}
