import type { EffectAnswer, EffectQuestion } from '../../engine/resuming/effect-guard.ts';
import { cut, plain } from '../../wording/text.ts';
import { ask, processTerminal, type Terminal } from '../options/confirm.ts';
import type { Output } from '../terminal/output.ts';

/** Creates a function that asks the user about calls that must not be repeated silently; undefined without a terminal. */
export function effectAsker(
  out: Output,
  terminal: Terminal = processTerminal(),
): ((question: EffectQuestion) => Promise<EffectAnswer>) | undefined {
  if (out.json !== undefined || !terminal.isTerminal) return undefined;
  // Parallel runs share one terminal: ask one question at a time.
  let before: Promise<unknown> = Promise.resolve();
  return (question) => {
    const answered = before.then(() => answerOf(out, question, terminal));
    before = answered.catch(() => undefined);
    return answered;
  };
}

async function answerOf(out: Output, question: EffectQuestion, terminal: Terminal): Promise<EffectAnswer> {
  const { outcome } = question;
  for (const line of linesOf(out, question)) out.say(line);
  const canReuse = outcome !== undefined;
  const choices = `[r]un it${canReuse ? ', [u]se the recorded answer' : ''}, or [n]o: `;
  for (;;) {
    const answer = (await ask(terminal, choices)).trim().toLowerCase();
    if (answer === 'r' || answer === 'run') return 'run';
    if (canReuse && (answer === 'u' || answer === 'use')) return 'reuse';
    if (answer === 'n' || answer === 'no' || answer === '') return 'refuse';
  }
}

function linesOf(out: Output, { branch, kind, name, input, effect, earlier, outcome }: EffectQuestion): string[] {
  const before =
    earlier === undefined
      ? 'This call has not been made before.'
      : outcome === undefined
        ? `It was started at ${earlier}, and never ended: it may or may not have happened.`
        : `It was already made at ${earlier}, with outcome ${outcome}.`;
  const called = `${plain(branch)} wants to call ${plain(kind)} "${plain(name)}", which is ${effect}:`;
  return [
    out.style('yellow', called),
    `  ${cut(plain(JSON.stringify(input ?? null)), Math.max(20, out.columns - 2))}`,
    plain(before),
  ];
}
