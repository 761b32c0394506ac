import { Option } from 'commander';
import { given } from '../../core/json.ts';
import { refText } from '../../core/ref.ts';
import { forwardAnswer } from '../../reading/answers/fleet-answers.ts';
import { plural } from '../../wording/amount.ts';
import { plain } from '../../wording/text.ts';
import type { CommandSpec } from '../command.ts';
import { done, no } from '../exit-code.ts';
import { flagOption, numberOption, textOption } from '../option-values.ts';
import { agentLimits, agentOptions } from '../options/agent-options.ts';
import { chosenFleet } from '../options/fleet-choice.ts';
import { wholeNumber } from '../options/number-option.ts';
import { simulating } from '../options/simulate-option.ts';
import { runLive } from '../running/live-run.ts';

/** `reprise forward`. */
export const forward: CommandSpec = {
  arguments: [{ name: '<ref>', about: 'branch: session[/branch]' }],
  options: [
    new Option('--until <turn>', 'last turn to run').argParser(wholeNumber).makeOptionMandatory(),
    new Option('--reuse-unchanged', 'repeat recorded turns whose inputs are the same'),
    new Option('--with <fleet>', 'fleet from reprise.config; optional if there is only one').helpGroup(
      'Agent options:',
    ),
    ...agentOptions().filter(({ long }) => long !== '--run' && long !== '--with'),
  ],
  exits: '0 if every turn ended well, 1 if not.',
  examples: [
    'reprise forward demo/careful --until 5 --with demo',
    'reprise forward demo --until 3 --with demo --reuse-unchanged',
  ],
  run: async (context, [text = ''], options) => {
    const { out } = context;
    const limits = agentLimits(options);
    const { timeoutMs, budget } = limits;
    const onTurn = await chosenFleet(context, textOption(options, 'with'));
    const found = await context.branch(text);
    const { session, ref } = found;
    const effects = await simulating(context, options, limits.effects, { all: false });
    const result = await runLive(context, ({ signal, ask }) =>
      session.branch(ref.branch).runForward({
        untilTurn: numberOption(options, 'until') ?? 0,
        onTurn,
        signal,
        ...(flagOption(options, 'reuseUnchanged') ? { reuseUnchanged: true } : {}),
        ...given({ timeoutMs, budget, effects, ask }),
      }),
    );
    const answer = forwardAnswer(found, result);
    if (out.json !== undefined) await out.value(answer);
    else {
      for (const { turn, agent, result: said } of result.results)
        if (said !== undefined && said !== '')
          await out.line(
            plain(`turn ${turn}  ${agent ?? 'fleet'}: ${typeof said === 'string' ? said : JSON.stringify(said)}`),
          );
      await out.line(`${plural(answer.live.length, 'turn')} ran, ${plural(answer.reused.length, 'turn')} repeated`);
      const { stoppedBy } = answer;
      if (stoppedBy !== null)
        out.say(
          plain(
            `Stopped in turn ${stoppedBy.turn} (${stoppedBy.reason}): ${stoppedBy.message}. Run it again to continue.`,
          ),
        );
      out.next(`reprise beliefs ${refText({ session: ref.session, branch: ref.branch })}`);
    }
    return answer.stoppedBy === null ? done : no;
  },
};
