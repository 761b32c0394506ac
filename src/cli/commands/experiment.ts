import { Option } from 'commander';
import { parseVariants, type VariantsFile } from '../../core/comparing/variants.ts';
import { RepriseError } from '../../core/error.ts';
import { given } from '../../core/json.ts';
import { refText } from '../../core/ref.ts';
import type { ExperimentProgress, ExperimentResult, ExperimentRow } from '../../engine/resuming/experiment-result.ts';
import { absoluteUrl, chooseStore } from '../../node/store-location.ts';
import type { CommandSpec } from '../command.ts';
import type { Context } from '../context.ts';
import { exitCodeOfRows, stopped } from '../exit-code.ts';
import { agentLimits, agentOptions, type ChosenAgent, chosenAgent } from '../options/agent-options.ts';
import { inputText } from '../options/input-text.ts';
import { wholeNumber } from '../options/number-option.ts';
import { readFailure } from '../options/read-failure.ts';
import { experimentLines } from '../render/experiment-lines.ts';
import { commandCheck } from '../running/check-command.ts';
import { runLive } from '../running/live-run.ts';

/** `reprise experiment`. */
export const experiment: CommandSpec = {
  arguments: [{ name: '<ref>', about: 'the point every variant starts from: session[/branch][@at]' }],
  options: [
    new Option(
      '--variants <file>',
      'what is tried: a JSON list of { name, prompt?, system?, model?, … }',
    ).makeOptionMandatory(),
    new Option('--repeats <k>', 'how often each variant is run').argParser(wholeNumber),
    new Option('--parallel <n>', 'how many run at the same time').argParser(wholeNumber),
    new Option('--check <command>', 'a shell command that gets the result on stdin: exit 0 is a pass'),
    new Option('--reason <text>', 'why; it is kept in the log of every branch'),
    new Option('--user-turns <which>', 'send what the user said later on the original').choices(['recorded']),
    ...agentOptions(),
  ],
  exits:
    '0 if a branch came to a result, whatever the check says of it. If none did, the table is printed all the same: 3 if an agent failed, 1 if budget, time or a refused call stopped them; 130 after Ctrl-C.',
  examples: [
    'reprise experiment demo@12 --variants variants.json --with support',
    'reprise experiment demo@12 --variants variants.json --repeats 3 --parallel 2 --check "grep -q pool" --json',
  ],
  run: async (context, [text = ''], options) => {
    const file = variantsIn(options['variants'] as string);
    const limits = agentLimits(options);
    const agents = await agentsFor(context, file, options['with'] as string | undefined);
    const { session, point } = await context.at(text);
    const check = await checkFor(context, (options['check'] as string | undefined) ?? file.check);
    const counts = countsOf(options, file);
    const result = await runLive(context, session, async ({ watched, signal, ask, progress }) => {
      const all = agents.named.map((chosen) => [chosen.name, watched(chosen)] as const);
      const tell = rowTeller(context);
      const found = await session.experiment(point, {
        ...counts,
        ...limits,
        variants: file.variants,
        agents: Object.fromEntries(all),
        signal,
        ...(agents.agent === undefined ? {} : { agent: watched(agents.agent) }),
        ...given({ ask, check }),
        ...(options['reason'] === undefined ? {} : { reason: options['reason'] as string }),
        ...(options['userTurns'] === undefined ? {} : { userTurns: 'recorded' }),
        onProgress: (told) => {
          progress.prefix = `${told.done} of ${told.total} branches, `;
          tell.row(told);
        },
      });
      await tell.settled();
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
      hint: 'Name a JSON file of variants.',
    });
  }
  return parseVariants(text);
}

/** What the command line says goes before what the file says. */
function countsOf(
  options: Readonly<Record<string, unknown>>,
  { repeats, parallel, budget, effects }: VariantsFile,
): Pick<VariantsFile, 'repeats' | 'parallel' | 'budget' | 'effects'> {
  const [times, atOnce] = [options['repeats'] ?? repeats, options['parallel'] ?? parallel] as (number | undefined)[];
  return {
    ...given({ repeats: times, parallel: atOnce, budget, effects }),
  };
}

/** The agents that the variants name, and the one for those that name none. */
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
  const { location } = chooseStore(context.storeUrl, await context.config());
  const { currentNamespace } = await context.open();
  return commandCheck(command, { store: absoluteUrl(location), namespace: currentNamespace });
}

/** Prints each branch as JSON as soon as it has come to an end. */
function rowTeller({ out }: Context): {
  readonly row: (told: ExperimentProgress) => void;
  readonly settled: () => Promise<void>;
} {
  let told: Promise<void> = Promise.resolve();
  return {
    row: ({ row }) => {
      if (row !== undefined && out.json === 'lines') told = told.then(() => out.value(rowShape(row)));
    },
    settled: () => told,
  };
}

function rowShape(row: ExperimentRow): Record<string, unknown> {
  const { variant, repeat, branch, outcome, text, modelCalls, usage, cost, latencyMs, divergedAt, passed } = row;
  const { error, errorCode } = row;
  const spent = { modelCalls, usage, cost, latencyMs };
  return { variant, repeat, branch, outcome, text, ...spent, divergedAt, passed, error, errorCode };
}

async function print({ out }: Context, result: ExperimentResult): Promise<void> {
  const { session, point, original, rows, variants } = result;
  if (out.json === 'object') await out.value({ session, point, original, branches: rows.map(rowShape), variants });
  else if (out.json === 'lines') await out.value({ session, point, original, variants });
  else {
    await out.lines(experimentLines(out, result));
    if (rows.some(({ errorCode }) => errorCode === 'effect.refused'))
      out.say(
        'What was done is not done again unless you say so: --effects reuse takes the recorded answers, run makes the calls.',
      );
    const worth = rows.find(({ passed }) => passed === true) ?? rows[0];
    const diff = worth === undefined ? [] : [`reprise diff ${original} ${refText({ session, branch: worth.branch })}`];
    out.next(...diff, `reprise tree ${refText({ session })}`);
  }
}
