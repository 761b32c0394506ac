import type { Fate } from '../../engine/resuming/foreseen-calls.ts';
import type { Resumable } from '../../engine/resuming/resumable.ts';
import { messageContent } from '../../wording/message-content.ts';
import { cut, fold, plain } from '../../wording/text.ts';
import type { Output, Style } from '../terminal/output.ts';

const foldedLines = 6;

/** Returns the lines that show a person the input of a resumed agent. */
export function resumableLines(out: Output, handed: Resumable, isFull: boolean): string[] {
  const { agent, run, messages, prompt, pending, repairs } = handed;
  const message = (held: Resumable['messages'][number]): string[] => {
    const linesMax = isFull ? Number.POSITIVE_INFINITY : foldedLines;
    const { lines, bytesLeft } = fold(messageContent(held.message), Math.max(16, out.columns - 20), linesMax);
    const head = `@${held.seq}`.padEnd(6) + plain(String(held.message['role'])).padEnd(10);
    const shown = lines.map((line, index) => (index === 0 ? head : ' '.repeat(head.length)) + line);
    return bytesLeft === 0 ? shown : [...shown, out.dim(`${' '.repeat(head.length)}… (--full shows all)`)];
  };
  const who = [agent === null ? 'the agent' : plain(agent), run === null ? '' : `after run ${plain(run)}`];
  return [
    out.bold(`A resume of ${plain(handed.ref)} hands over`),
    ...section(out, `Messages for ${who.filter((part) => part !== '').join(', ')}`, messages.flatMap(message)),
    ...section(out, 'Prompt', prompt === null ? ['none: the last message is not an open question'] : message(prompt)),
    ...section(
      out,
      'Pending calls, made first',
      pending.map((call) => cut(callText(call), out.tableColumns - 2)),
    ),
    ...section(out, 'Calls', callLines(out, handed)),
    ...section(out, 'Settings of the branch', settingLines(out, handed)),
    ...section(
      out,
      'Repairs',
      repairs.map(({ rule, seq, what }) => cut(`@${seq}  ${rule}: ${plain(what)}`, out.tableColumns - 2)),
    ),
    '',
  ];
}

/** Returns a line for each call that can be foreseen, and for each tool with new arguments. */
function callLines(out: Output, { calls, otherwise }: Resumable): string[] {
  const fate = (word: Fate): string => out.style(fateStyles[word], word.padEnd(9));
  const line = (word: Fate, text: string): string =>
    `${fate(word)} ${cut(plain(text), Math.max(16, out.columns - 12))}`;
  return [
    ...calls.map(({ from, ref, name, input, effect, fate: word, earlier }) => {
      const when = from === 'pending' ? 'made first' : `if the agent makes it again, as at ${ref}`;
      const made = earlier === null || from === 'recorded' ? '' : `; it was made at ${earlier}`;
      return line(word, `${name} ${JSON.stringify(input)} (${effect}), ${when}${made}`);
    }),
    ...otherwise.map(({ name, effect, fate: word }) => line(word, `${name} with new arguments (${effect})`)),
  ];
}

const fateStyles: Readonly<Record<Fate, Style>> = {
  made: 'red',
  answered: 'green',
  simulated: 'yellow',
  asked: 'cyan',
  refused: 'green',
};

/** Which calls a resume makes first, and how not to. */
export function pendingLines(pending: Resumable['pending']): string[] {
  if (pending.length === 0) return [];
  const calls = pending.map(callText).join(', ');
  return [`Pending: ${calls}. A resume makes ${pending.length === 1 ? 'it' : 'them'} first, without asking the model.`];
}

const callText = ({ seq, call, name, input }: Resumable['pending'][number]): string =>
  plain(`${name} ${JSON.stringify(input)} (${call}, decided at @${seq})`);

function settingLines(out: Output, { model, system, tools, settings }: Resumable): string[] {
  return Object.entries({ model, system, tools, settings }).flatMap(([name, value]) => {
    if (value === null) return [];
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return [cut(plain(`${name}: ${text}`), out.tableColumns - 2)];
  });
}

function section(out: Output, title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', out.bold(title), ...lines.map((line) => `  ${line}`)];
}
