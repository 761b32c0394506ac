import { Command } from 'commander';
import { refText } from '../../core/ref.ts';
import { type CommandSpec, describe } from '../command.ts';
import { commands } from '../commands.ts';
import { branchNames, type Context } from '../context.ts';
import { done } from '../exit-code.ts';
import { globalOptions } from '../global-options.ts';

// Pressing Tab must answer at once, and nobody chooses from more.
const refsMax = 200;
const busyWaitMs = 300;

/** `reprise completion`. */
export const completion: CommandSpec = {
  arguments: [
    {
      name: '<shell>',
      about: 'for which shell; "refs" prints the refs that the scripts offer',
      choices: ['bash', 'zsh', 'fish', 'refs'],
    },
    { name: '[begun]', about: 'with "refs": what was typed so far' },
  ],
  examples: [
    'reprise completion bash > ~/.local/share/bash-completion/completions/reprise',
    'reprise completion zsh > ~/.zfunc/_reprise',
    'reprise completion fish > ~/.config/fish/completions/reprise.fish',
  ],
  run: async (context, [shell = '', begun = '']) => {
    if (shell === 'refs') await offerRefs(context, begun);
    else {
      const script = scripts[shell as keyof typeof scripts](await wordsOf());
      await (context.out.json === undefined ? context.out.line(script) : context.out.value({ shell, script }));
    }
    return done;
  },
};

/** Sessions; once one is typed, its branches. A store that cannot be read offers nothing. */
async function offerRefs(context: Context, begun: string): Promise<void> {
  const refs = ['latest'];
  try {
    const reprise = await context.open({ busyWaitMs });
    const slash = begun.indexOf('/');
    if (slash > 0) {
      const { session } = await context.at(begun.slice(0, slash));
      for (const branch of await branchNames(session)) refs.push(refText({ session: session.id, branch }));
    } else {
      for await (const { session } of reprise.sessions()) if (refs.push(refText({ session })) > refsMax) break;
    }
  } catch {
    return;
  }
  const wanted = refs.filter((ref) => ref.startsWith(begun) && /^[\w./%-]+$/.test(ref)).slice(0, refsMax);
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

const scripts = { bash, zsh, fish };

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
        # A ref goes on with /branch or @at.
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
