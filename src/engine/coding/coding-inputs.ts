import { contentText } from '../../core/coding/note.ts';
import { type Project, projectPath, projectTest, projectText } from '../../core/coding/project-path.ts';
import { readTestCommand, type Selection } from '../../core/coding/test-command.ts';
import { filesInDiff } from '../../core/coding/unified-diff.ts';
import { RepriseError } from '../../core/error.ts';
import type { EventDraft, Outcome } from '../../core/event/event.ts';
import { given, isObject, type JsonInput, type JsonInputValue } from '../../core/json.ts';
import { checkKeys, type KnownKeys, type OptionKind, optionKeys, shownValue } from '../../core/known-keys.ts';
import { checkBytes } from '../../core/limits.ts';

/** Where a recorded event belongs. */
export interface CodingScope {
  /** The run it belongs to; the open one if left out. */
  readonly run?: string;
}

/** The start of a run. */
export interface CodingRunStart {
  /** The run's id; a new one if left out. */
  readonly run?: string;
  readonly title?: string;
  readonly agent?: string;
}

/** The end of a run. */
export interface CodingRunEnd extends CodingScope {
  /** How it ended; `ok` if left out. */
  readonly outcome?: Outcome;
  readonly result?: JsonInputValue;
}

/** A goal. */
export interface GoalInput extends CodingScope {
  readonly title: string;
  readonly description?: string;
}

/** A constraint on the work. */
export interface ConstraintInput extends CodingScope {
  readonly key: string;
  readonly value?: JsonInputValue;
  readonly text?: string;
  /** Whether it must be met; `hard` if left out. */
  readonly strength?: 'hard' | 'soft';
}

/** A test that failed. */
export interface TestFailureInput {
  readonly testId: string;
  readonly file?: string;
  readonly name?: string;
  readonly errorType?: string;
  readonly message?: string;
}

/** The result of a test command. */
export interface TestRunInput extends CodingScope {
  readonly command: string;
  /** The exit code; null if a signal ended the command. */
  readonly exitCode: number | null;
  /** One of pytest, vitest, jest, node, go, or any other name. */
  readonly framework?: string;
  /** The tests that were asked for; read from the command of a known framework if left out. */
  readonly selection?: Selection;
  readonly failures?: readonly TestFailureInput[];
  /** The ids of the tests that passed; left out if the run does not list them. */
  readonly passed?: readonly string[];
  readonly skipped?: readonly string[];
  /** Whether the run came to the end of its tests; read from exit code and command if left out. */
  readonly finished?: boolean;
  /** The call that ran the command, so that it does not count as a change of files. */
  readonly call?: string;
}

/** A change of one file. */
export interface PatchInput extends CodingScope {
  readonly file: string;
  /** A unified diff of this file. */
  readonly diff?: string;
  /** The whole file before and after the change; null where there is no file. */
  readonly before?: string | null;
  readonly after?: string | null;
  readonly summary?: string;
}

/** A decision. */
export interface DecisionInput extends CodingScope {
  readonly decision: string;
  readonly reason?: string;
}

/** A way of doing something. */
export interface ProcedureInput extends CodingScope {
  readonly title?: string;
  readonly text: string;
}

/** Something that was found. */
export interface EvidenceInput extends CodingScope {
  readonly title?: string;
  readonly content?: JsonInputValue;
  readonly source?: string;
}

/** Something unsafe that is set aside. */
export interface RiskInput extends CodingScope {
  readonly title: string;
  readonly content?: JsonInputValue;
  readonly source?: string;
  readonly reason?: string;
  /** The id of the event that it sets aside. */
  readonly event?: string;
}

/** A fact worth keeping. */
export interface FactInput extends CodingScope {
  readonly text: string;
}

/** Everything that can be recorded by one verb, by the name of the verb. */
export interface CodingInputs {
  readonly goal: GoalInput;
  readonly constraint: ConstraintInput;
  readonly testRun: TestRunInput;
  readonly patch: PatchInput;
  readonly decision: DecisionInput;
  readonly procedure: ProcedureInput;
  readonly evidence: EvidenceInput;
  readonly risk: RiskInput;
  readonly fact: FactInput;
}

const run = 'text';
const keysOf = <Name extends keyof CodingInputs>(
  _name: Name,
  what: string,
  names: Readonly<Record<keyof Required<CodingInputs[Name]>, true | OptionKind>>,
): KnownKeys => optionKeys<CodingInputs[Name]>(`record ${what}`, names, what);

const inputKeys: Readonly<Record<keyof CodingInputs, KnownKeys>> = {
  goal: keysOf('goal', 'a goal', { run, title: true, description: 'text' }),
  constraint: keysOf('constraint', 'a constraint', { run, key: true, value: true, text: 'text', strength: 'text' }),
  testRun: keysOf('testRun', 'a test run', {
    run,
    command: true,
    exitCode: true,
    framework: 'text',
    selection: true,
    failures: 'list',
    passed: 'list',
    skipped: 'list',
    finished: 'flag',
    call: 'text',
  }),
  patch: keysOf('patch', 'a patch', { run, file: true, diff: 'text', before: true, after: true, summary: 'text' }),
  decision: keysOf('decision', 'a decision', { run, decision: true, reason: 'text' }),
  procedure: keysOf('procedure', 'a procedure', { run, title: 'text', text: true }),
  evidence: keysOf('evidence', 'evidence', { run, title: 'text', content: true, source: 'text' }),
  risk: keysOf('risk', 'a risk', {
    run,
    title: true,
    content: true,
    source: 'text',
    reason: 'text',
    event: 'text',
  }),
  fact: keysOf('fact', 'a fact', { run, text: true }),
};

const failureKeys: KnownKeys = optionKeys<TestFailureInput>(
  'record a test run',
  { testId: true, file: 'text', name: 'text', errorType: 'text', message: 'text' },
  'a failure',
);

/** Returns the event that an input becomes. Paths in it are relative to the root of the project. */
export function codingDraft<Name extends keyof CodingInputs>(
  name: Name,
  input: CodingInputs[Name],
  project: Project | undefined,
): EventDraft {
  checkKeys(input, inputKeys[name]);
  return drafts[name](input, project);
}

const drafts: {
  readonly [Name in keyof CodingInputs]: (input: CodingInputs[Name], project: Project | undefined) => EventDraft;
} = {
  goal: ({ title, description }) => draft('goal.set', { goal: text('a goal', 'title', title), details: description }),
  constraint: ({ key, value, text: words, strength = 'hard' }) => {
    if (strength !== 'hard' && strength !== 'soft')
      refuse('record a constraint', `its strength is ${shownValue(strength)}`, 'It takes "hard" or "soft".');
    return draft('constraint.set', { key: text('a constraint', 'key', key), value, text: words, strength });
  },
  testRun: testRunDraft,
  patch: patchDraft,
  decision: ({ decision, reason }) =>
    draft('decision.made', { decision: text('a decision', 'decision', decision), reason }),
  procedure: ({ title, text: words }) => draft('procedure.added', { title, text: text('a procedure', 'text', words) }),
  evidence: ({ title, content, source }) => {
    if (title === undefined && content === undefined)
      refuse('record evidence', 'it has neither a title nor a content', 'Give one of them.');
    return draft('evidence.added', { title, content, source });
  },
  risk: ({ title, content, source, reason, event }) => {
    checkBytes('riskBytesMax', [contentText(content) ?? ''], 'record a risk');
    const data = { title: text('a risk', 'title', title), content, source, reason, event };
    // The cause makes the store look the event up, and gives its seq to folds.
    return { ...draft('risk.quarantined', data), ...given({ cause: event }) };
  },
  fact: ({ text: words }) => draft('note.added', { text: text('a fact', 'text', words) }),
};

function draft(type: string, data: JsonInput): EventDraft {
  return { type, data: given(data) };
}

function text(what: string, field: string, value: unknown): string {
  if (typeof value === 'string' && value.trim() !== '') return value;
  return refuse(`record ${what}`, `its ${field} is not a string, or is empty`, `Give a ${field}.`);
}

function testRunDraft(input: TestRunInput, project: Project | undefined): EventDraft {
  const { command, exitCode, framework, failures = [], passed, skipped, finished, call } = input;
  const attempt = 'record a test run';
  if (exitCode !== null && !Number.isSafeInteger(exitCode))
    refuse(
      attempt,
      `its exit code is ${shownValue(exitCode)}`,
      'Give a whole number, or null if a signal ended the command.',
    );
  if (exitCode === null && finished === true)
    refuse(attempt, 'a signal ended it, so it did not finish', 'Leave "finished" out.');
  const tests = (ids: readonly string[] | undefined): readonly string[] | undefined =>
    ids?.map((id) => projectTest(text('a test run', 'test id', id), project));
  const data = {
    command: text('a test run', 'command', command),
    exitCode: exitCode ?? killedCode,
    framework,
    failures: failures.map((failure) => failureData(failure, project)),
    passed: tests(passed),
    skipped: tests(skipped),
    finished: exitCode === null ? false : finished,
    call,
  };
  return draft('tests.ran', { ...data, selection: selectionData(input, project) as JsonInputValue | undefined });
}

/** The exit code for a signal that has no name here; shells add the signal's number to it. */
const killedCode = 128;

function failureData(failure: TestFailureInput, project: Project | undefined): JsonInput {
  checkKeys(failure, failureKeys);
  const { testId, file, name, errorType, message } = failure;
  if (typeof testId !== 'string' || testId.trim() === '')
    refuse(
      'record a test run',
      `a failure${name === undefined ? '' : ` (${JSON.stringify(name)})`} has no test id`,
      'Give each failure the testId that the framework uses, such as tests/test_a.py::test_x.',
    );
  return given({
    test: projectTest(testId, project),
    file: file === undefined ? undefined : projectPath(file, project),
    name,
    errorType,
    message: message === undefined ? undefined : projectText(message, project),
  });
}

/** Returns the selection to store. In a folder of a project, the paths of a command are not those of the project. */
function selectionData(input: TestRunInput, project: Project | undefined): Selection | undefined {
  const { selection, command, framework } = input;
  if (selection !== undefined && !isSelection(selection))
    refuse(
      'record a test run',
      'its selection has no known form',
      'It takes "all", a list of files, folders and test ids, or { prefix }.',
    );
  if (selection === undefined) return selectionIn(command, framework, project);
  return Array.isArray(selection) ? selection.map((place) => projectPlace(place, project)) : selection;
}

/** Returns the selection of a command if its paths are not those of the project; else undefined: a fold reads them. */
function selectionIn(
  command: string,
  framework: string | undefined,
  project: Project | undefined,
): Selection | undefined {
  if (project === undefined) return undefined;
  // Many agents first go to the folder in which they already are.
  const [, to = '', rest = ''] = /^\s*cd\s+(\S+)\s*&&(.*)$/s.exec(command) ?? [];
  const isStaying = to !== '' && projectPath(`${to}/.`, project) === project.folder;
  const { selection } = readTestCommand(isStaying ? rest : command, framework);
  if (selection === 'all') return project.folder !== '' ? [project.folder] : isStaying ? 'all' : undefined;
  if (!Array.isArray(selection)) return undefined;
  const places = selection.map((place) => projectPlace(place, project));
  return isStaying || places.some((place, index) => place !== selection[index]) ? places : undefined;
}

/** Returns a place of a selection relative to the root of a project: the path of a file or folder, or a test id. */
function projectPlace(place: string, project: Project | undefined): string {
  const isName = place.includes('::') || /\s/.test(place);
  return isName ? projectTest(place, project) : projectPath(place, project);
}

function isSelection(value: unknown): value is Selection {
  if (Array.isArray(value)) return value.every((place) => typeof place === 'string');
  return value === 'all' || (isObject(value) && typeof value['prefix'] === 'string');
}

function patchDraft({ file, diff, before, after, summary }: PatchInput, project: Project | undefined): EventDraft {
  const attempt = 'record a patch';
  if (diff === undefined && after === undefined)
    refuse(attempt, 'it has neither a diff nor the content after it', 'Give a unified diff, or "after".');
  for (const content of [before, after])
    if (content !== undefined && content !== null && typeof content !== 'string')
      refuse(attempt, `the content of its file is ${shownValue(content)}`, 'Give it as a string, or null for no file.');
  const files = diff === undefined ? 0 : filesInDiff(diff);
  if (files > 1) refuse(attempt, `its diff changes ${files} files`, 'Record one patch for each file.');
  const path = projectPath(text('a patch', 'file', file), project);
  return draft('file.patched', { path, patch: diff, summary, before, after });
}

function refuse(attempt: string, why: string, hint: string): never {
  throw new RepriseError('option.invalid', `Cannot ${attempt}: ${why}`, { hint });
}
