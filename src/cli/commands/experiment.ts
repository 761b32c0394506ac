import { Option } from 'commander';
import { parseVariants, type VariantsFile } from '../../core/comparing/variants.ts';
import { RepriseError } from '../../core/error.ts';
import { given } from '../../core/json.ts';
import type { ExperimentOptions } from '../../engine/experimenting/experiment-options.ts';
import type { ExperimentProgress, ExperimentSetResult } from '../../engine/experimenting/experiment-result.ts';
import { absoluteUrl } from '../../node/store-location.ts';
import { experimentRowAnswer } from '../../reading/answers/run-answers.ts';
import { durationText } from '../../wording/amount.ts';
import type { CommandSpec } from '../command.ts';
import type { Context } from '../context.ts';
import { stopped } from '../exit-code.ts';
import { collect, numberOption, type OptionValues, textOption } from '../option-values.ts';
import { agentLimits, agentOptions, type ChosenAgent, chosenAgent } from '../options/agent-options.ts';
import { inputText } from '../options/input-text.ts';
import { configuredJudge } from '../options/judge-option.ts';
import { amount, wholeNumber } from '../options/number-option.ts';
import { readFailure } from '../options/read-failure.ts';
import { sessionsIn, setPointIn } from '../options/set-options.ts';
import { simulating } from '../options/simulate-option.ts';
import { commandCheck } from '../running/check-command.ts';
import { exitCodeOfExperiment, printExperiment, reportsIn } from '../running/experiment-report.ts';
import { type LiveRun, runLive } from '../running/live-run.ts';
import { userTurnsOf } from './resume.ts';

/** `reprise experiment`. */
export const experiment: CommandSpec = {
  arguments: [
    { name: '[ref]', about: 'point every variant starts from: session[/branch][@at]; or "show"' },
    { name: '[id]', about: 'with "show": the experiment whose table to print again' },
  ],
  options: [
    new Option('--variants <file>', 'JSON list of the variants to try: { name, prompt?, system?, model?, … }'),
    new Option(
      '--sessions <file|filter>',
      'run on many sessions instead of a ref: a file that lists them, or conditions as "reprise list --filter" takes them',
    ),
    new Option(
      '--at <point>',
      'with --sessions: first-user-message, before-call:TOOL, after:FILTER, before:FILTER, a seq or turn:N',
    ).default('first-user-message'),
    new Option('--repeats <k>', 'run each variant this many times').argParser(wholeNumber),
    new Option('--parallel <n>', 'run this many at the same time').argParser(wholeNumber),
    new Option(
      '--check <command>',
      'shell command that gets the result on stdin; exit 0 is a pass, JSON on stdout scores',
    ),
    new Option('--judge <name>', 'judge of reprise.config that decides or scores each result'),
    new Option('--total-model-calls <n>', 'stop the whole after this many model calls').argParser(wholeNumber),
    new Option('--total-tokens <n>', 'stop the whole after this many tokens').argParser(wholeNumber),
    new Option('--total-cost <usd>', 'stop the whole after this many US dollars').argParser(amount),
    new Option('--continue <id>', 'continue an experiment; branches that have a result are not run again'),
    new Option(
      '--fail-under <share>',
      'exit 1 if a variant passes less often: 0.9, or VARIANT=0.9, repeatable',
    ).argParser(collect),
    new Option('--markdown <file>', 'also write the result as Markdown'),
    new Option('--junit <file>', 'also write the result as JUnit XML'),
    new Option('--reason <text>', 'why, for the log of every branch'),
    new Option('--user-turns <which>', 'replay the later user messages of the original').choices(['recorded']),
    ...agentOptions(),
  ],
  exits:
    '0 if at least one branch gave a result, whether or not it passed the check. Otherwise 3 if an agent failed, or 1 if budget, time or a refused call stopped them all; the table is printed in any case. With --fail-under, 1 if a variant passes less often or was not checked. 130 after Ctrl-C.',
  examples: [
    'reprise experiment demo@12 --variants variants.json --with support',
    'reprise experiment demo@12 --variants variants.json --repeats 3 --parallel 2 --check "grep -q pool" --json',
    'reprise experiment --sessions "session=^demo" --variants variants.json --total-cost 1 --junit report.xml',
  ],
  run: async (context, [text = '', id], options) => {
    const reports = reportsIn(options);
    if (text === 'show' && id !== undefined) {
      const found = await (await context.open()).findExperiment(id);
      await printExperiment(context, found, reports);
      return exitCodeOfExperiment(context, found, reports);
    }
    const { found, isStopped } = await runExperiment(context, text, options);
    await printExperiment(context, found, reports);
    return isStopped ? stopped : exitCodeOfExperiment(context, found, reports);
  },
};

async function runExperiment(
  context: Context,
  text: string,
  options: OptionValues,
): Promise<{ readonly found: ExperimentSetResult; readonly isStopped: boolean }> {
  const file = variantsIn(textOption(options, 'variants'));
  const limits = agentLimits(options);
  const sessions = textOption(options, 'sessions');
  checkWhere(text, sessions);
  const at = setPointIn(textOption(options, 'at') ?? '');
  const agents = await agentsFor(context, file, textOption(options, 'with'));
  const judge = await configuredJudge(context, textOption(options, 'judge'));
  const check = await checkFor(context, textOption(options, 'check') ?? file.check);
  const effects = await simulating(context, options, limits.effects ?? file.effects, { all: true });
  const one = sessions === undefined ? await context.at(text) : undefined;
  const reprise = await context.open();
  const set = sessions === undefined ? undefined : await sessionsIn(reprise, sessions);
  const reason = textOption(options, 'reason');
  const typed = { variants: file.variants, ...given({ reason }) };
  const masked = one === undefined ? typed : await context.masked(one.session, typed);
  return runLive(context, async (live) => {
    const printer = rowPrinter(context, live);
    const chosen: ExperimentOptions = {
      ...countsOf(options, file),
      ...limits,
      ...masked,
      agents: Object.fromEntries(agents.named.map((named) => [named.name, live.watched(named)])),
      signal: live.signal,
      ...given({
        agent: agents.agent === undefined ? undefined : live.watched(agents.agent),
        ask: live.ask,
        check,
        judge,
        effects,
        userTurns: userTurnsOf(options),
        continue: textOption(options, 'continue'),
      }),
      onProgress: printer.note,
    };
    const found =
      one === undefined
        ? await reprise.experiment({ ...chosen, sessions: set ?? [], at })
        : await one.session.at(one.point).experiment(chosen);
    await printer.settled();
    return { found, isStopped: live.signal.aborted };
  });
}

function checkWhere(text: string, sessions: string | undefined): void {
  if ((text === '') !== (sessions === undefined)) return;
  const why = sessions === undefined ? 'there is no ref and no --sessions' : 'there is a ref and --sessions';
  throw new RepriseError('option.invalid', `Cannot run the experiment: ${why}`, {
    hint: 'Name one point, or a set with --sessions.',
  });
}

function variantsIn(path: string | undefined): VariantsFile {
  if (path === undefined)
    throw new RepriseError('experiment.invalid', 'Cannot run the experiment: there are no variants', {
      hint: 'Pass --variants FILE, a JSON list such as [{ "name": "as-is" }, { "name": "brief", "system": "Be brief." }].',
    });
  let text: string;
  try {
    text = inputText(path);
  } catch (error) {
    throw new RepriseError('experiment.invalid', `Cannot read ${JSON.stringify(path)}: ${readFailure(error)}`, {
      hint: 'Pass a JSON file of variants.',
    });
  }
  return parseVariants(text);
}

/** Reads the counts and budgets; the command line takes precedence over the file. */
function countsOf(
  options: OptionValues,
  { repeats, parallel, budget }: VariantsFile,
): Pick<ExperimentOptions, 'repeats' | 'parallel' | 'budget' | 'budgetTotal'> {
  const total = given({
    modelCalls: numberOption(options, 'totalModelCalls'),
    tokens: numberOption(options, 'totalTokens'),
    costUsd: numberOption(options, 'totalCost'),
  });
  return given({
    repeats: numberOption(options, 'repeats') ?? repeats,
    parallel: numberOption(options, 'parallel') ?? parallel,
    budget,
    budgetTotal: Object.keys(total).length === 0 ? undefined : total,
  });
}

/** Finds the agents that variants name, and the one for the variants that name none. */
async function agentsFor(
  context: Context,
  { variants }: VariantsFile,
  wanted: string | undefined,
): Promise<{ readonly agent?: ChosenAgent; readonly named: readonly ChosenAgent[] }> {
  const names = new Set(variants.flatMap((variant) => (variant.with === undefined ? [] : [variant.with])));
  const named: ChosenAgent[] = [];
  for (const name of names) named.push(await chosenAgent(context, name));
  const needsOne = wanted !== undefined || variants.some((variant) => variant.with === undefined);
  const agent = needsOne ? await chosenAgent(context, wanted) : undefined;
  return { ...given({ agent }), named };
}

async function checkFor(
  context: Context,
  command: string | undefined,
): Promise<ReturnType<typeof commandCheck> | undefined> {
  if (command === undefined) return undefined;
  const { location } = context.chosenStore();
  const { currentNamespace } = await context.open();
  return commandCheck(command, { store: absoluteUrl(location), namespace: currentNamespace });
}

/** Shows progress with an estimate, and prints each branch as a line of JSON as soon as it ends. */
function rowPrinter(
  { out }: Context,
  { progress }: LiveRun,
): { readonly note: (now: ExperimentProgress) => void; readonly settled: () => Promise<void> } {
  let printed: Promise<void> = Promise.resolve();
  let isNamed = false;
  return {
    note: ({ id, done, total, leftMs, row }) => {
      // The id is said at once: it is what a person needs after a crash.
      if (!isNamed && out.json === undefined) out.say(out.dim(`Experiment ${id}. If it stops, add --continue ${id}.`));
      isNamed = true;
      const left = leftMs === null || done === total ? '' : `about ${durationText(leftMs)} left, `;
      progress.prefix = `${done} of ${total} branches, ${left}`;
      if (row !== undefined && out.json === 'lines') printed = printed.then(() => out.value(experimentRowAnswer(row)));
    },
    settled: () => printed,
  };
}
