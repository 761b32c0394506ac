import { Option } from 'commander';
import { parseVariants, type VariantsFile } from '../../core/comparing/variants.ts';
import { RepriseError } from '../../core/error.ts';
import { given } from '../../core/json.ts';
import { refText } from '../../core/ref.ts';
import type { ExperimentProgress, ExperimentResult } from '../../engine/resuming/experiment-result.ts';
import { absoluteUrl } from '../../node/store-location.ts';
import { type ExperimentAnswer, experimentRowAnswer, experimentSummary } from '../../reading/run-answers.ts';
import type { CommandSpec } from '../command.ts';
import type { Context } from '../context.ts';
import { exitCodeOfRows, stopped } from '../exit-code.ts';
import { numberOption, type OptionValues, textOption } from '../option-values.ts';
import { agentLimits, agentOptions, type ChosenAgent, chosenAgent } from '../options/agent-options.ts';
import { inputText } from '../options/input-text.ts';
import { wholeNumber } from '../options/number-option.ts';
import { readFailure } from '../options/read-failure.ts';
import { experimentLines } from '../render/experiment-lines.ts';
import { commandCheck } from '../running/check-command.ts';
import { runLive } from '../running/live-run.ts';
import { userTurnsOf } from './resume.ts';

/** `reprise experiment`. */
export const experiment: CommandSpec = {
  arguments: [{ name: '<ref>', about: 'point every variant starts from: session[/branch][@at]' }],
  options: [
    new Option(
      '--variants <file>',
      'JSON list of the variants to try: { name, prompt?, system?, model?, … }',
    ).makeOptionMandatory(),
    new Option('--repeats <k>', 'run each variant this many times').argParser(wholeNumber),
    new Option('--parallel <n>', 'run this many at the same time').argParser(wholeNumber),
    new Option('--check <command>', 'shell command that gets the result on stdin; exit 0 is a pass'),
    new Option('--reason <text>', 'why, for the log of every branch'),
    new Option('--user-turns <which>', 'replay the later user messages of the original').choices(['recorded']),
    ...agentOptions(),
  ],
  exits:
    '0 if at least one branch gave a result, whether or not it passed the check. Otherwise 3 if an agent failed, or 1 if budget, time or a refused call stopped them all; the table is printed in any case. 130 after Ctrl-C.',
  examples: [
    'reprise experiment demo@12 --variants variants.json --with support',
    'reprise experiment demo@12 --variants variants.json --repeats 3 --parallel 2 --check "grep -q pool" --json',
  ],
  run: async (context, [text = ''], options) => {
    const file = variantsIn(textOption(options, 'variants') ?? '');
    const limits = agentLimits(options);
    const agents = await agentsFor(context, file, textOption(options, 'with'));
    const { session, point } = await context.at(text);
    const check = await checkFor(context, textOption(options, 'check') ?? file.check);
    const counts = countsOf(options, file);
    const typed = { variants: file.variants, ...given({ reason: textOption(options, 'reason') }) };
    const masked = await context.masked(session, typed);
    const result = await runLive(context, session, async ({ watched, signal, ask, progress }) => {
      const named = agents.named.map((chosen) => [chosen.name, watched(chosen)] as const);
      const agent = agents.agent === undefined ? undefined : watched(agents.agent);
      const printer = rowPrinter(context);
      const found = await session.experiment(point, {
        ...counts,
        ...limits,
        ...masked,
        agents: Object.fromEntries(named),
        signal,
        ...given({ agent, ask, check, userTurns: userTurnsOf(options) }),
        onProgress: (now) => {
          progress.prefix = `${now.done} of ${now.total} branches, `;
          printer.row(now);
        },
      });
      await printer.settled();
      return { found, isStopped: signal.aborted };
    });
    await print(context, result.found);
    return result.isStopped ? stopped : exitCodeOfRows(result.found.rows);
  },
};

function variantsIn(path: string): VariantsFile {
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

/** Reads the counts; the command line takes precedence over the file. */
function countsOf(
  options: OptionValues,
  { repeats, parallel, budget, effects }: VariantsFile,
): Pick<VariantsFile, 'repeats' | 'parallel' | 'budget' | 'effects'> {
  return given({
    repeats: numberOption(options, 'repeats') ?? repeats,
    parallel: numberOption(options, 'parallel') ?? parallel,
    budget,
    effects,
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

/** Prints each branch as a line of JSON as soon as it ends. */
function rowPrinter({ out }: Context): {
  readonly row: (progress: ExperimentProgress) => void;
  readonly settled: () => Promise<void>;
} {
  let printed: Promise<void> = Promise.resolve();
  return {
    row: ({ row }) => {
      if (row !== undefined && out.json === 'lines') printed = printed.then(() => out.value(experimentRowAnswer(row)));
    },
    settled: () => printed,
  };
}

async function print({ out }: Context, result: ExperimentResult): Promise<void> {
  const { session, original, rows } = result;
  const summary = experimentSummary(result);
  if (out.json === 'object')
    await out.value({ ...summary, branches: rows.map(experimentRowAnswer) } satisfies ExperimentAnswer);
  else if (out.json === 'lines') await out.value(summary);
  else {
    await out.lines(experimentLines(out, result));
    if (rows.some(({ errorCode }) => errorCode === 'effect.refused'))
      out.say(
        'Reprise does not repeat a call without permission. Use --effects reuse to take the recorded answers, or --effects run to make the calls.',
      );
    const best = rows.find(({ passed }) => passed === true) ?? rows[0];
    const diff = best === undefined ? [] : [`reprise diff ${original} ${refText({ session, branch: best.branch })}`];
    out.next(...diff, `reprise tree ${refText({ session })}`);
  }
}
