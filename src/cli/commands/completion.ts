import { Command } from 'commander';
import { RepriseError } from '../../core/error.ts';
import { type CommandSpec, describe } from '../command.ts';
import { commands } from '../commands.ts';
import { done } from '../exit-code.ts';

/** `reprise completion`. */
export const completion: CommandSpec = {
  arguments: [{ name: '<shell>', about: 'bash, zsh or fish' }],
  examples: ['reprise completion bash > ~/.local/share/bash-completion/completions/reprise', 'reprise completion fish | source'],
  run: async ({ out }, [shell = '']) => {
    const words = await wordsOf();
    const script = shell === 'bash' ? bash(words) : shell === 'zsh' ? zsh(words) : shell === 'fish' ? fish(words) : undefined;
    if (script === undefined) throw new RepriseError('ref.invalid', `Cannot complete for ${JSON.stringify(shell)}`, { hint: 'There is bash, zsh and fish.' });
    await out.line(script);
    return done;
  },
};

interface Words {
  readonly name: string;
  readonly summary: string;
  readonly options: readonly string[];
}

const everywhere: readonly string[] = ['--store', '--namespace', '--json', '--help'];

async function wordsOf(): Promise<Words[]> {
  return Promise.all(
    commands.map(async ({ name, summary, load }) => {
      const command = describe(new Command(name), await load());
      return { name, summary, options: [...command.options.map((option) => option.long ?? ''), ...everywhere].filter((option) => option !== '') };
    }),
  );
}

function bash(words: readonly Words[]): string {
  const cases = words.map(({ name, options }) => `    ${name}) words="${options.join(' ')}" ;;`).join('\n');
  return `_reprise() {
  local current="\${COMP_WORDS[COMP_CWORD]}" words="${words.map((word) => word.name).join(' ')}"
  if [ "$COMP_CWORD" -gt 1 ]; then case "\${COMP_WORDS[1]}" in
${cases}
  esac; fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _reprise reprise`;
}

function zsh(words: readonly Words[]): string {
  const names = words.map(({ name, summary }) => `'${name}:${summary.replaceAll("'", '’')}'`).join(' ');
  const cases = words.map(({ name, options }) => `    ${name}) compadd -- ${options.join(' ')} ;;`).join('\n');
  return `#compdef reprise
_reprise() {
  local -a commands=(${names})
  if (( CURRENT == 2 )); then _describe command commands; return; fi
  case "$words[2]" in
${cases}
  esac
}
compdef _reprise reprise`;
}

function fish(words: readonly Words[]): string {
  return words
    .flatMap(({ name, summary, options }) => [
      `complete -c reprise -n __fish_use_subcommand -a ${name} -d '${summary.replaceAll("'", '’')}'`,
      ...options.map((option) => `complete -c reprise -n '__fish_seen_subcommand_from ${name}' -l ${option.slice(2)}`),
    ])
    .join('\n');
}
