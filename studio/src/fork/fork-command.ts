import type { Edit } from '../../../src/core/view/edit.ts';
import { shellWord } from '../run/command-text.ts';
import type { Draft } from './draft.ts';

/** Writes the command that makes the same fork. Values that it reads from files are made by the shell. */
export function forkCommand(ref: string, { edits, name, reason }: Draft): string {
  const words = ['reprise', 'fork', shellWord(ref)];
  if (name !== '') words.push('--name', shellWord(name));
  if (reason !== '') words.push('--reason', shellWord(reason));
  for (const edit of edits) words.push(...optionOf(edit));
  return words.join(' ');
}

/** A file that the shell makes of a value. */
const file = (value: unknown): string => `<(printf '%s' ${shellWord(JSON.stringify(value))})`;

function optionOf(edit: Edit): readonly string[] {
  switch (edit.kind) {
    case 'prompt':
      return ['--prompt', shellWord(edit.text)];
    case 'system':
      return ['--system', shellWord(edit.text), ...agentOf(edit.agent)];
    case 'model':
      return ['--model', shellWord(edit.model), ...agentOf(edit.agent)];
    case 'tools':
      return ['--tools', file(edit.tools)];
    case 'message':
      return ['--message', `${edit.seq}=${file(edit.message)}`];
    case 'toolInput':
      return ['--tool-input', `${edit.call}=${file(edit.input)}`];
    case 'toolResult':
      return ['--tool-result', `${edit.call}=${file(edit.output)}`];
    case 'state':
      return edit.value === undefined
        ? ['--unset', shellWord(edit.key)]
        : ['--set', shellWord(`${edit.key}=${JSON.stringify(edit.value)}`), ...agentOf(edit.agent)];
    case 'belief':
      return ['--belief', file(edit.belief)];
    case 'drop':
      return ['--drop', String(edit.seq), ...(edit.cascade === true ? ['--cascade'] : [])];
    case 'insert':
      return ['--insert', `${edit.after}=${file(edit.event)}`];
    case 'replace':
      return ['--replace', `${edit.seq}=${file(edit.event)}`];
    case 'append':
      return ['--append', file(edit.event)];
  }
}

const agentOf = (agent: string | undefined): readonly string[] =>
  agent === undefined ? [] : ['--for', shellWord(agent)];
