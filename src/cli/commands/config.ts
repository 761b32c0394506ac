import { Option } from 'commander';
import { RepriseError } from '../../core/error.ts';
import type { JsonObject } from '../../core/json.ts';
import type { MaskingOptions } from '../../core/masking/masking-options.ts';
import { agentKind } from '../../core/recording/config.ts';
import { type MaskKeySource, maskKeySource } from '../../node/mask-key.ts';
import { loadProject, saveSettings, settingOf } from '../../node/project.ts';
import { settingsName } from '../../node/settings-file.ts';
import { type StoreChoice, shownUrl } from '../../node/store-location.ts';
import { trustFolder } from '../../node/trust.ts';
import { plural } from '../../wording/amount.ts';
import { plain } from '../../wording/text.ts';
import type { CommandSpec } from '../command.ts';
import type { Context } from '../context.ts';
import { done } from '../exit-code.ts';
import { flagOption, textOption } from '../option-values.ts';
import { jsonText } from '../terminal/json-text.ts';
import type { Output } from '../terminal/output.ts';

/** `reprise config`. */
export const config: CommandSpec = {
  options: [
    new Option('--save', 'write store, namespace and masking of the file to .reprise/settings.json'),
    new Option('--trust [folder]', 'trust the project in this folder, even if a different user owns it').preset('.'),
  ],
  examples: ['reprise config', 'reprise config --json', 'reprise config --save'],
  run: async (context, _values, options) => {
    const folder = textOption(options, 'trust');
    if (folder !== undefined) return await trust(context, folder);
    if (flagOption(options, 'save')) return await save(context);
    return await show(context);
  },
};

async function show(context: Context): Promise<number> {
  const { out } = context;
  const found: ConfigAnswer = await inEffect(context);
  if (out.json !== undefined) await out.value(found);
  else {
    await out.lines(linesOf(out, found));
    const [agent] = found.agents;
    if (agent !== undefined) out.next(`reprise resume latest --with ${agent.name}`);
    else if (found.file === null)
      out.say(`To start, create this file:\n\n${firstConfig}\n\nSee docs/guides/configure.md in the package.`);
  }
  return done;
}

/** A trusted project, as `reprise config --trust --json` prints it. */
export interface TrustAnswer {
  /** The root of the project. */
  readonly folder: string;
  /** The file that lists the folders the user trusts. */
  readonly listedIn: string;
}

/** Trusts a project, and runs nothing of it. */
async function trust({ out }: Context, folder: string): Promise<number> {
  const answer: TrustAnswer = trustFolder(folder);
  if (out.json !== undefined) await out.value(answer);
  else await out.line(`Trusted: ${plain(answer.folder)}  ${out.dim(`(listed in ${plain(answer.listedIn)})`)}`);
  return done;
}

/** Saved settings, as `reprise config --save --json` prints them. */
export interface SaveAnswer {
  /** The settings file. */
  readonly file: string;
  /** Its content. */
  readonly settings: JsonObject;
}

/** Runs the configuration, and writes what data can express into the settings next to it. */
async function save({ out }: Context): Promise<number> {
  const { config: loaded, settings: held } = await loadProject();
  if (loaded === undefined)
    throw new RepriseError('config.invalid', 'Cannot save settings: there is no reprise.config.ts here', {
      hint: `Write ${settingsName} by hand: { "store": "sqlite:PATH", "namespace": "NAME" }`,
    });
  const answer: SaveAnswer = saveSettings(loaded, held);
  if (out.json !== undefined) await out.value(answer);
  else {
    await out.line(`Wrote ${plain(answer.file)}: ${plain(jsonText(answer.settings))}`);
    out.say('You can remove these fields from the configuration: every command reads the settings.');
  }
  return done;
}

/** The smallest useful configuration. */
const firstConfig = `  // reprise.config.ts
  import { defineConfig } from 'reprise';
  import { support } from './agent.ts'; // a function of the context, or aiSdkAgent(…), openaiAgent(…), langgraphAgent(…)
  export default defineConfig({ agents: { support } });`;

/** The configuration in effect, as `reprise config --json` prints it. */
export interface ConfigAnswer {
  /** The configuration file; null if there is none. */
  readonly file: string | null;
  /** The settings file; null if there is none. */
  readonly settings: string | null;
  /** The store, and what chose it. */
  readonly store: { readonly url: string; readonly by: StoreChoice };
  readonly namespace: string;
  readonly agents: readonly { readonly name: string; readonly kind: string }[];
  /** The models that the file has prices for. */
  readonly prices: readonly string[];
  /** Null if nothing is masked. */
  readonly masking: {
    readonly rules: readonly string[];
    readonly except: readonly string[];
    /** The source of the key of masks: `environment`, `file` with its path, or `process`. */
    readonly key: MaskKeySource;
  } | null;
}

async function inEffect(context: Context): Promise<ConfigAnswer> {
  const loaded = await context.config();
  const project = context.project();
  const { location, by } = context.chosenStore();
  const masking = settingOf(project, 'masking') ?? {};
  return {
    file: loaded?.file ?? null,
    settings: project.settings?.file ?? null,
    store: { url: shownUrl(location), by },
    namespace: context.chosenNamespace(),
    agents: Object.entries(loaded?.config.agents ?? {}).map(([name, agent]) => ({ name, kind: agentKind(agent) })),
    prices: Object.keys(loaded?.config.prices ?? {}),
    masking: masking === false ? null : { ...rulesOf(masking), key: maskKeySource() },
  };
}

const rulesOf = ({ rules = [], except = [] }: MaskingOptions) => ({ rules: rules.map(({ name }) => name), except });

const chosenBy: Readonly<Record<StoreChoice, string>> = {
  given: 'from --store',
  environment: 'from REPRISE_STORE',
  settings: 'from the settings',
  config: 'from the file',
  default: 'default',
};

function linesOf(out: Output, found: ConfigAnswer): string[] {
  const { file, settings, store, namespace, agents, prices, masking } = found;
  const line = (label: string, text: string): string => `${out.dim(label.padEnd(11))}${text}`;
  const agentLines = agents.map(({ name, kind }, index) =>
    line(index === 0 ? 'agents' : '', `${out.bold(plain(name))}  ${out.dim(plain(kind))}`),
  );
  return [
    line('file', file === null ? 'none' : plain(file)),
    ...(settings === null ? [] : [line('settings', plain(settings))]),
    line('store', `${plain(store.url)}  ${out.dim(`(${chosenBy[store.by]})`)}`),
    line('namespace', plain(namespace)),
    ...(agents.length === 0 ? [line('agents', 'none')] : agentLines),
    line('prices', prices.length === 0 ? 'built-in' : `built-in, plus ${prices.map(plain).join(', ')}`),
    line('masking', maskingText(masking)),
  ];
}

function maskingText(masking: ConfigAnswer['masking']): string {
  if (masking === null) return 'off';
  const { rules, except, key } = masking;
  const own =
    rules.length === 0 ? '' : `, plus ${plural(rules.length, 'rule')} from the file: ${rules.map(plain).join(', ')}`;
  return `built-in rules${except.length === 0 ? '' : ` except ${except.join(', ')}`}${own}; key ${keyText(key)}`;
}

function keyText(key: MaskKeySource): string {
  if (key.kind === 'environment') return 'from REPRISE_MASK_KEY';
  return key.kind === 'file' ? `in ${plain(key.path)}` : 'of each process';
}
