import { arrayAt, booleanAt, given, isObject, type JsonObject, type JsonValue, numberAt, stringAt } from '../json.ts';
import { readTestCommand, type Selection } from './test-command.ts';

/** One test that failed. */
export interface TestFailure {
  /** The id of the test, such as `tests/test_a.py::test_x`; the path of a file that could not be loaded. */
  readonly test: string;
  readonly file?: string;
  readonly name?: string;
  readonly errorType?: string;
  readonly message?: string;
}

/** One execution of a test command, as far as its result is known. */
export interface TestRun {
  readonly command: string;
  /** The exit code; from 128 on, a signal ended the command. */
  readonly exitCode: number;
  readonly framework?: string;
  readonly selection?: Selection;
  readonly failures: readonly TestFailure[];
  /** The tests that passed; undefined if the run does not list them. */
  readonly passed?: readonly string[];
  readonly skipped?: readonly string[];
  /** Whether the run came to the end of its tests; read from the exit code and the command if left out. */
  readonly finished?: boolean;
}

/** From here on, an exit code is that of a signal, of a time limit, or of a program that could not be started. */
const brokenCodeMin = 124;
const pytestTroubleMin = 2;

/** Reads a test run from the data of a `tests.ran`; undefined if the data does not say what ran. */
export function testRunOf(data: JsonObject): TestRun | undefined {
  const [command, exitCode] = [stringAt(data, 'command'), numberAt(data, 'exitCode')];
  if (command === undefined || exitCode === undefined) return undefined;
  return {
    command,
    exitCode,
    failures: (arrayAt(data, 'failures') ?? []).flatMap(failureOf),
    ...given({
      framework: stringAt(data, 'framework'),
      selection: selectionIn(data['selection']),
      passed: textsIn(data['passed']),
      skipped: textsIn(data['skipped']),
      finished: booleanAt(data, 'finished'),
    }),
  };
}

function failureOf(value: JsonValue): TestFailure[] {
  if (typeof value === 'string') return [{ test: value }];
  const test = stringAt(value, 'test') ?? stringAt(value, 'name');
  if (test === undefined) return [];
  const [file, name] = [stringAt(value, 'file'), stringAt(value, 'name')];
  return [
    { test, ...given({ file, name, errorType: stringAt(value, 'errorType'), message: stringAt(value, 'message') }) },
  ];
}

function textsIn(value: JsonValue | undefined): readonly string[] | undefined {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : undefined;
}

function selectionIn(value: JsonValue | undefined): Selection | undefined {
  if (value === 'all') return value;
  if (isObject(value)) return typeof value['prefix'] === 'string' ? { prefix: value['prefix'] } : undefined;
  return textsIn(value);
}

/** Returns the tests that a run speaks for; undefined if neither its selection nor its command says. */
export function selectionOf({ selection, command, framework }: TestRun): Selection | undefined {
  return selection ?? readTestCommand(command, framework).selection;
}

/** Returns true if a run came to the end of its tests. */
export function isFinished({ finished, exitCode, framework, command, failures, passed }: TestRun): boolean {
  if (finished !== undefined) return finished;
  if (exitCode >= brokenCodeMin || (framework === 'pytest' && exitCode >= pytestTroubleMin)) return false;
  const { runsNone, allowsNone, hidesExitCode, mayStop } = readTestCommand(command, framework);
  if (runsNone) return false;
  if (exitCode === 0) return passed !== undefined || !(hidesExitCode || allowsNone);
  return failures.length > 0 && !mayStop;
}

/** Returns the file of a test id: the part before `::`. */
export function fileOfTest(test: string): string {
  const end = test.indexOf('::');
  return end < 0 ? test : test.slice(0, end);
}

/** Returns true if a test is in one of the places of a selection. */
export function isSelected(test: string, selection: Selection): boolean {
  if (selection === 'all') return true;
  if ('prefix' in selection) return test.startsWith(selection.prefix);
  return selection.some((place) => isWithin(test, place));
}

function isWithin(test: string, place: string): boolean {
  if (test === place || fileOfTest(test) === place) return true;
  const isPart = (end: string): boolean => test.startsWith(`${place}${end}`);
  // The cases of a test with parameters are part of it: pytest puts them in brackets.
  return test.startsWith(`${place.replace(/\/$/, '')}/`) || isPart('::') || (place.includes('::') && isPart('['));
}

/** Returns the files that a run could not load: failures that name a file instead of a test. */
export function unloadedFiles({ failures, framework }: TestRun): ReadonlySet<string> {
  const isFile = (test: string): boolean => !test.includes('::') && (framework === 'go' || /\.\w+$/.test(test));
  return new Set(failures.map(({ test }) => test).filter(isFile));
}
