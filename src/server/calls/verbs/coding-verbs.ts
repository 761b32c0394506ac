import type { JsonObject } from '../../../core/json.ts';
import type { Coding } from '../../../engine/coding/coding.ts';
import type {
  CodingRunEnd,
  CodingRunStart,
  ConstraintInput,
  DecisionInput,
  EvidenceInput,
  FactInput,
  GoalInput,
  PatchInput,
  ProcedureInput,
  RiskInput,
  TestRunInput,
} from '../../../engine/coding/coding-inputs.ts';
import type { ContextOptions } from '../../../engine/coding/coding-look.ts';
import type { RequestInput } from '../../../engine/coding/prepare-request.ts';
import type { CodingCounterfactualOptions, CodingReplayOptions } from '../../../engine/coding/replay-coding.ts';
import { type Arguments, apart, type LookPlace, takes, textIn, type VerbEntry, writing } from '../verb-entry.ts';

/** The agent of what is recorded; that of the run if left out. */
const ofAgent = { agent: 'text?' } as const;

function codingOf({ on }: LookPlace, input: JsonObject): Coding {
  const { coding } = on;
  const agent = textIn(input, 'agent');
  return agent === '' ? coding : coding.as(agent);
}

/** Returns a verb that records one thing. The verb itself checks what it gets. */
function recording(
  about: string,
  names: Arguments,
  record: (coding: Coding, input: never) => Promise<unknown>,
): VerbEntry {
  return {
    about,
    rights: writing,
    at: 'branch',
    takes: { ...names, ...ofAgent },
    one: (place, input) => record(codingOf(place, input), apart(input, 'agent') as never),
  };
}

const sized = takes<Omit<ContextOptions, 'counter'>>({ currentGoal: 'text?', budgetTokens: 'number?' });

const replaying = {
  ...sized,
  ...takes<Omit<CodingReplayOptions, keyof ContextOptions>>({
    prepareRequest: 'flag?',
    model: 'text?',
    instructions: 'text?',
    input: 'text?',
    maxOutputTokens: 'number?',
  }),
};

type CodingVerb =
  | 'startRun'
  | 'endRun'
  | 'goal'
  | 'constraint'
  | 'testRun'
  | 'patch'
  | 'decision'
  | 'procedure'
  | 'evidence'
  | 'risk'
  | 'fact'
  | 'prepareRequest'
  | 'configure'
  | 'context'
  | 'files'
  | 'replay'
  | 'replayRun'
  | 'replayCounterfactual'
  | 'diffRuns';

/** The verbs of a coding session. */
export const codingVerbs: Readonly<Record<`coding.${CodingVerb}`, VerbEntry>> = {
  'coding.startRun': recording(
    'Starts a run.',
    takes<Omit<CodingRunStart, 'agent'>>({ run: 'text?', title: 'text?' }),
    (coding, input) => coding.startRun(input),
  ),
  'coding.endRun': recording(
    'Ends a run.',
    takes<CodingRunEnd>({ run: 'text?', outcome: 'text?', result: 'any?' }),
    (coding, input) => coding.endRun(input),
  ),
  'coding.goal': recording(
    'Records a goal.',
    takes<GoalInput>({ run: 'text?', title: 'text', description: 'text?' }),
    (coding, input) => coding.goal(input),
  ),
  'coding.constraint': recording(
    'Records a constraint on the work.',
    takes<ConstraintInput>({ run: 'text?', key: 'text', value: 'any?', text: 'text?', strength: 'text?' }),
    (coding, input) => coding.constraint(input),
  ),
  'coding.testRun': recording(
    'Records a run of tests.',
    takes<TestRunInput>({
      run: 'text?',
      command: 'text',
      exitCode: 'any',
      framework: 'text?',
      selection: 'any?',
      failures: 'list?',
      passed: 'list?',
      skipped: 'list?',
      finished: 'flag?',
      call: 'text?',
    }),
    (coding, input) => coding.testRun(input),
  ),
  'coding.patch': recording(
    'Records a change of a file.',
    takes<PatchInput>({
      run: 'text?',
      file: 'text',
      diff: 'text?',
      before: 'any?',
      after: 'any?',
      summary: 'text?',
    }),
    (coding, input) => coding.patch(input),
  ),
  'coding.decision': recording(
    'Records a decision.',
    takes<DecisionInput>({ run: 'text?', decision: 'text', reason: 'text?' }),
    (coding, input) => coding.decision(input),
  ),
  'coding.procedure': recording(
    'Records how something is done.',
    takes<ProcedureInput>({ run: 'text?', title: 'text?', text: 'text' }),
    (coding, input) => coding.procedure(input),
  ),
  'coding.evidence': recording(
    'Records evidence.',
    takes<EvidenceInput>({ run: 'text?', title: 'text?', content: 'any?', source: 'text?' }),
    (coding, input) => coding.evidence(input),
  ),
  'coding.risk': recording(
    'Records a risk, which contexts leave out.',
    takes<RiskInput>({
      run: 'text?',
      title: 'text',
      content: 'any?',
      source: 'text?',
      reason: 'text?',
      event: 'text?',
    }),
    (coding, input) => coding.risk(input),
  ),
  'coding.fact': recording('Records a fact.', takes<FactInput>({ run: 'text?', text: 'text' }), (coding, input) =>
    coding.fact(input),
  ),
  'coding.prepareRequest': recording(
    'Builds a model request from the context at the head, and keeps its arguments in the log.',
    {
      ...sized,
      ...takes<Omit<RequestInput, keyof ContextOptions>>({
        model: 'text',
        input: 'text',
        instructions: 'text?',
        maxOutputTokens: 'number?',
        run: 'text?',
      }),
    },
    (coding, input) => coding.prepareRequest(input),
  ),
  'coding.configure': recording(
    'Sets the budget of contexts from here on.',
    { budgetTokens: 'number' },
    (coding, input) => coding.configure(input),
  ),
  'coding.context': {
    about: 'Returns the text that a model is shown at a point, and why each record is in it or not.',
    rights: ['read'],
    at: 'look',
    takes: sized,
    one: ({ look }, input) => look.coding.context(input),
  },
  'coding.files': {
    about: 'Rebuilds the files that were patched up to a point.',
    rights: ['read'],
    at: 'look',
    takes: { paths: 'list?' },
    one: ({ look }, input) => look.coding.files(input as never),
  },
  'coding.replay': {
    about: 'Rebuilds projection, records, context and request at a point.',
    rights: ['read'],
    at: 'look',
    takes: replaying,
    one: ({ look }, input) => look.coding.replay(input),
  },
  'coding.replayRun': {
    about: 'Rebuilds the same at the end of a run.',
    rights: ['read'],
    at: 'branch',
    takes: { run: 'text', ...replaying },
    one: ({ on }, input) => on.coding.replayRun(textIn(input, 'run'), apart(input, 'run')),
  },
  'coding.replayCounterfactual': {
    about: 'Rebuilds the same as if some events had not happened.',
    rights: ['read'],
    at: 'branch',
    takes: {
      ...replaying,
      ...takes<Omit<CodingCounterfactualOptions, keyof CodingReplayOptions>>({
        exclude: 'list',
        cascade: 'flag?',
        run: 'text?',
      }),
    },
    one: ({ on }, input) => on.coding.replayCounterfactual(input as never),
  },
  'coding.diffRuns': {
    about: 'Returns how what was known differs between the ends of two runs; without `before`, from the beginning.',
    rights: ['read'],
    at: 'branch',
    takes: { before: 'text?', after: 'text' },
    one: ({ on }, input) => on.coding.diffRuns((input['before'] as string | undefined) ?? null, textIn(input, 'after')),
  },
};
