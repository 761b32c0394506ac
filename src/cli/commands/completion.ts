import { Command, type Option } from 'commander';
import { refText } from '../../core/ref.ts';
import { branchesOf } from '../../reading/branch-tree.ts';
import { type CommandSpec, describe } from '../command.ts';
import { commands } from '../commands.ts';
import type { Context } from '../context.ts';
import { done } from '../exit-code.ts';
import { globalOptions } from '../global-options.ts';
import { demoAgentName } from '../options/agent-options.ts';

// Tab must answer at once, and no one chooses from a longer list.
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
      about: 'shell to print a script for; "refs", "agents" and "fleets" print the words that the scripts offer',
      choices: ['bash', 'zsh', 'fish', 'refs', 'agents', 'fleets'],
    },
    { name: '[prefix]', about: 'with "refs", "agents" and "fleets": the text typed so far' },
  ],
  examples: [
    'reprise completion bash > ~/.local/share/bash-completion/completions/reprise',
    'reprise completion zsh > ~/.zfunc/_reprise',
    'reprise completion fish > ~/.config/fish/completions/reprise.fish',
  ],
  run: async (context, [shell = '', prefix = '']) => {
    const write = scripts[shell];
    if (shell === 'agents' || shell === 'fleets') await offerNames(context, shell, prefix);
    else if (write === undefined) await offerRefs(context, prefix);
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

/** The kind of name that `--with` takes. */
type Named = 'agents' | 'fleets';

/** Prints the names that `--with` takes. Prints only that of the demo if the configuration cannot be read. */
async function offerNames(context: Context, kind: Named, prefix: string): Promise<void> {
  const loaded = await context.config().catch(() => undefined);
  const names = new Set([...Object.keys(loaded?.config[kind] ?? {}), demoAgentName]);
  const wanted = [...names].filter((name) => name.startsWith(prefix) && /^[\w.-]+$/.test(name));
  if (context.out.json === undefined) await context.out.lines(wanted);
  else for (const name of wanted) await context.out.value(kind === 'agents' ? { agent: name } : { fleet: name });
}

interface Words {
  readonly name: string;
  readonly summary: string;
  readonly options: readonly string[];
  /** The options that take a value. */
  readonly valued: readonly string[];
  readonly named: Named;
}

async function wordsOf(): Promise<Words[]> {
  return Promise.all(
    commands.map(async ({ name, summary, load }) => {
      const all = [...describe(new Command(name), await load()).options, ...globalOptions()];
      const long = (options: readonly Option[]): string[] => options.flatMap((option) => option.long ?? []);
      const valued = long(all.filter(({ required }) => required));
      const named = all.some(({ flags }) => flags === '--with <fleet>') ? 'fleets' : 'agents';
      return { name, summary, options: [...long(all), '--help'], valued, named };
    }),
  );
}

/** Returns the options of any command after which a word is a value, and neither a ref nor a name for `--with`. */
const valuedIn = (words: readonly Words[]): string =>
  [...new Set(words.flatMap(({ valued }) => valued))].filter((option) => option !== '--with').join('|');

const fleetCommands = (words: readonly Words[]): string =>
  words.flatMap(({ name, named }) => (named === 'fleets' ? [name] : [])).join('|');

const scripts: Readonly<Record<string, (words: readonly Words[]) => string>> = { bash, zsh, fish };

function bash(words: readonly Words[]): string {
  const cases = words.map(({ name, options }) => `      ${name}) words="${options.join(' ')}" ;;`).join('\n');
  return `_reprise() {
  local current="\${COMP_WORDS[COMP_CWORD]}" words="${words.map((word) => word.name).join(' ')}"
  if [ "$COMP_CWORD" -gt 1 ]; then
    case "\${COMP_WORDS[1]}" in
${cases}
    esac
    case "\${COMP_WORDS[COMP_CWORD-1]}" in
      --with)
        local named=agents
        case "\${COMP_WORDS[1]}" in ${fleetCommands(words)}) named=fleets ;; esac
        COMPREPLY=($(compgen -W "$(reprise completion $named "$current" 2>/dev/null)" -- "$current"))
        return
        ;;
      ${valuedIn(words)})
        COMPREPLY=()
        return
        ;;
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
  local named=agents
  case "$words[2]" in ${fleetCommands(words)}) named=fleets ;; esac
  case "$words[CURRENT-1]" in
    --with) compadd -- $(reprise completion $named "$PREFIX" 2>/dev/null); return ;;
    ${valuedIn(words)}) _files; return ;;
  esac
  if [[ "$PREFIX" != -* ]]; then compadd -S '' -- $(reprise completion refs "$PREFIX" 2>/dev/null); _files; return; fi
  case "$words[2]" in
${cases}
  esac
}
compdef _reprise reprise`;
}

/** Writes an option for fish; after one with a value, fish completes that value: an agent or fleet, or a file. */
function fishOption(option: string, { valued, named }: Words): string {
  const long = `-l ${option.slice(2)}`;
  if (option === '--with') return `${long} -x -a '(reprise completion ${named} (commandline -ct) 2>/dev/null)'`;
  return valued.includes(option) ? `${long} -r` : long;
}

function fish(words: readonly Words[]): string {
  const refs = `complete -c reprise -n 'not __fish_use_subcommand' -a '(reprise completion refs (commandline -ct) 2>/dev/null)'`;
  const lines = words.flatMap((word) => [
    `complete -c reprise -n __fish_use_subcommand -a ${word.name} -d '${quotedText(word.summary)}'`,
    ...word.options.map(
      (option) => `complete -c reprise -n '__fish_seen_subcommand_from ${word.name}' ${fishOption(option, word)}`,
    ),
  ]);
  return [...lines, refs].join('\n');
}
