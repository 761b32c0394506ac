import { arrayAt, booleanAt, given, isObject, type JsonObject, type JsonValue, numberAt, stringAt } from '../json.ts';

/** The tests that a run was asked for: all of them; files, folders and test ids; or every id with a prefix. */
export type Selection = 'all' | readonly string[] | { readonly prefix: string };

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

/** Options that choose tests by name: such a run says nothing about a test that it does not list. */
const nameFilters: ReadonlyMap<string, RegExp> = new Map([
  ['pytest', /(^|\s)(-k|-m|--deselect|--lf|--ff|--last-failed|--failed-first)(\s|=|$)/],
  ['vitest', /(^|\s)(-t|--testNamePattern|--changed)(\s|=|$)/],
  ['jest', /(^|\s)(-t|--testNamePattern|-o|--onlyFailures)(\s|=|$)/],
  ['node', /--test-name-pattern|--test-only/],
]);

const runnerWord = /(pytest|vitest|jest|node)$|(^|\/)(vitest\.mjs|jest\.js)$/;
const bails = /(^|\s)(-x|--exitfirst|--maxfail|--bail|-failfast)(\s|=|\d|$)/;
/** A shell that runs something after the tests, or beside them: the exit code may not be theirs. */
const hidesExitCode = /[;|\n]|(^|[^&])&([^&]|$)/;
const signalCodeMin = 128;
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
  if (selection !== undefined) return selection;
  const filter = nameFilters.get(framework ?? '');
  if (filter === undefined || filter.test(command)) return undefined;
  const words = command.split(/\s+/);
  const runner = words.findLastIndex((word) => runnerWord.test(word));
  const places = words.slice(runner + 1).filter((word) => !word.startsWith('-') && word !== 'run' && word !== '');
  return places.length === 0 ? 'all' : places;
}

/** Tells whether a run came to the end of its tests. */
export function isFinished({ finished, exitCode, framework, command, failures, passed }: TestRun): boolean {
  if (finished !== undefined) return finished;
  if (exitCode >= signalCodeMin || (framework === 'pytest' && exitCode >= pytestTroubleMin)) return false;
  if (exitCode === 0) return passed !== undefined || !hidesExitCode.test(command);
  return failures.length > 0 && !bails.test(command);
}

/** Returns the file of a test id: the part before `::`. */
export function fileOfTest(test: string): string {
  const end = test.indexOf('::');
  return end < 0 ? test : test.slice(0, end);
}

/** Tells whether a test is in one of the places of a selection. */
export function isSelected(test: string, selection: Selection): boolean {
  if (selection === 'all') return true;
  if ('prefix' in selection) return test.startsWith(selection.prefix);
  return selection.some((place) => isWithin(test, place));
}

function isWithin(test: string, place: string): boolean {
  if (test === place || fileOfTest(test) === place) return true;
  return test.startsWith(`${place.replace(/\/$/, '')}/`) || test.startsWith(`${place}::`);
}

/** Returns the files that a run could not load: failures that name a file instead of a test. */
export function unloadedFiles({ failures, framework }: TestRun): ReadonlySet<string> {
  const isFile = (test: string): boolean => !test.includes('::') && (framework === 'go' || /\.\w+$/.test(test));
  return new Set(failures.map(({ test }) => test).filter(isFile));
}

/** Returns the test framework that a command runs; undefined if its words do not say. */
export function frameworkIn(command: string): string | undefined {
  const words = command.split(/\s+/).map((word) => word.replace(/^.*\//, '').replace(/^(vitest|jest)\.m?js$/, '$1'));
  const known = words.find((word) => word === 'pytest' || word === 'vitest' || word === 'jest');
  if (known !== undefined) return known;
  if (words[0] === 'node' && words.includes('--test')) return 'node';
  return words[0] === 'go' && words[1] === 'test' ? 'go' : undefined;
}
