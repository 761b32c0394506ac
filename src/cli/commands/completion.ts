import { Command } from 'commander';
import { refText } from '../../core/ref.ts';
import { branchesOf } from '../../reading/branch-tree.ts';
import { type CommandSpec, describe } from '../command.ts';
import { commands } from '../commands.ts';
import type { Context } from '../context.ts';
import { done } from '../exit-code.ts';
import { globalOptions } from '../global-options.ts';

// Tab must answer at once, and nobody chooses from a longer list.
const refsMax = 200;
const busyWaitMs = 300;

/** A completion script, as `reprise completion --json` prints it. */
export interface CompletionAnswer {
  readonly shell: string;
  readonly script: string;
}

/** `reprise completion`. */
export const completion: CommandSpec = {
  arguments: [
    {
      name: '<shell>',
      about: 'shell to print a script for; "refs" prints the refs that the scripts offer',
      choices: ['bash', 'zsh', 'fish', 'refs'],
    },
    { name: '[prefix]', about: 'with "refs": the text typed so far' },
  ],
  examples: [
    'reprise completion bash > ~/.local/share/bash-completion/completions/reprise',
    'reprise completion zsh > ~/.zfunc/_reprise',
    'reprise completion fish > ~/.config/fish/completions/reprise.fish',
  ],
  run: async (context, [shell = '', prefix = '']) => {
    const write = scripts[shell];
    if (write === undefined) await offerRefs(context, prefix);
    else {
      const answer: CompletionAnswer = { shell, script: write(await wordsOf()) };
      await (context.out.json === undefined ? context.out.line(answer.script) : context.out.value(answer));
    }
    return done;
  },
};

/** Prints sessions, or the branches of a session once its name is typed. Prints nothing if the store cannot be read. */
async function offerRefs(context: Context, prefix: string): Promise<void> {
  const refs = ['latest'];
  try {
    const reprise = await context.open({ busyWaitMs });
    const slash = prefix.indexOf('/');
    if (slash > 0) {
      const { session } = await context.at(prefix.slice(0, slash));
      for (const { branch } of await branchesOf(session)) refs.push(refText({ session: session.id, branch }));
    } else {
      for await (const { session } of reprise.sessions()) if (refs.push(refText({ session })) > refsMax) break;
    }
  } catch {
    return;
  }
  const wanted = refs.filter((ref) => ref.startsWith(prefix) && /^[\w./%-]+$/.test(ref)).slice(0, refsMax);
  if (context.out.json === undefined) await context.out.lines(wanted);
  else for (const ref of wanted) await context.out.value({ ref });
}

interface Words {
  readonly name: string;
  readonly summary: string;
  readonly options: readonly string[];
}

async function wordsOf(): Promise<Words[]> {
  const everywhere = [...globalOptions().map((option) => option.long ?? ''), '--help'];
  return Promise.all(
    commands.map(async ({ name, summary, load }) => {
      const own = describe(new Command(name), await load()).options.map((option) => option.long ?? '');
      return { name, summary, options: [...own, ...everywhere].filter((option) => option !== '') };
    }),
  );
}

const scripts: Readonly<Record<string, (words: readonly Words[]) => string>> = { bash, zsh, fish };

function bash(words: readonly Words[]): string {
  const cases = words.map(({ name, options }) => `      ${name}) words="${options.join(' ')}" ;;`).join('\n');
  return `_reprise() {
  local current="\${COMP_WORDS[COMP_CWORD]}" words="${words.map((word) => word.name).join(' ')}"
  if [ "$COMP_CWORD" -gt 1 ]; then
    case "\${COMP_WORDS[1]}" in
${cases}
    esac
    case "$current" in
      -*) ;;
      *)
        words="$(reprise completion refs "$current" 2>/dev/null)"
        # A ref may continue with /branch or @at.
        compopt -o nospace 2>/dev/null
        ;;
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _reprise reprise`;
}

const quotedText = (text: string): string => text.replaceAll("'", '’');

function zsh(words: readonly Words[]): string {
  const names = words.map(({ name, summary }) => `    '${name}:${quotedText(summary)}'`).join('\n');
  const cases = words.map(({ name, options }) => `    ${name}) compadd -- ${options.join(' ')} ;;`).join('\n');
  return `#compdef reprise
_reprise() {
  local -a commands=(
${names}
  )
  if (( CURRENT == 2 )); then _describe command commands; return; fi
  if [[ "$PREFIX" != -* ]]; then compadd -S '' -- $(reprise completion refs "$PREFIX" 2>/dev/null); _files; return; fi
  case "$words[2]" in
${cases}
  esac
}
compdef _reprise reprise`;
}

function fish(words: readonly Words[]): string {
  const refs = `complete -c reprise -n 'not __fish_use_subcommand' -a '(reprise completion refs (commandline -ct) 2>/dev/null)'`;
  const lines = words.flatMap(({ name, summary, options }) => [
    `complete -c reprise -n __fish_use_subcommand -a ${name} -d '${quotedText(summary)}'`,
    ...options.map((option) => `complete -c reprise -n '__fish_seen_subcommand_from ${name}' -l ${option.slice(2)}`),
  ]);
  return [...lines, refs].join('\n');
}
