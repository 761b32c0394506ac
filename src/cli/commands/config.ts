import type { MaskingOptions } from '../../core/masking/masking-options.ts';
import { agentKind, type Config } from '../../core/recording/config.ts';
import { type MaskKeySource, maskKeySource } from '../../node/mask-key.ts';
import { chooseStore, type StoreChoice, shownUrl } from '../../node/store-location.ts';
import { plural } from '../../wording/amount.ts';
import { plain } from '../../wording/text.ts';
import type { CommandSpec } from '../command.ts';
import type { Context } from '../context.ts';
import { done } from '../exit-code.ts';
import type { Output } from '../terminal/output.ts';

/** `reprise config`. */
export const config: CommandSpec = {
  examples: ['reprise config', 'reprise config --json'],
  run: async (context) => {
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
  },
};

/** The smallest useful configuration. */
const firstConfig = `  // reprise.config.ts
  import { defineConfig } from 'reprise';
  import { support } from './agent.ts'; // a function of the context, or aiSdkAgent(…), openaiAgent(…), langgraphAgent(…)
  export default defineConfig({ agents: { support } });`;

/** The configuration in effect, as `reprise config --json` prints it. */
export interface ConfigAnswer {
  /** Null if there is none. */
  readonly file: string | null;
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
  const held: Config = loaded?.config ?? {};
  const { location, by } = chooseStore(context.storeUrl, loaded);
  const masking = held.masking ?? {};
  return {
    file: loaded?.file ?? null,
    store: { url: shownUrl(location), by },
    namespace: context.namespace ?? (by === 'given' ? undefined : held.namespace) ?? 'default',
    agents: Object.entries(held.agents ?? {}).map(([name, agent]) => ({ name, kind: agentKind(agent) })),
    prices: Object.keys(held.prices ?? {}),
    masking: masking === false ? null : { ...rulesOf(masking), key: maskKeySource() },
  };
}

const rulesOf = ({ rules = [], except = [] }: MaskingOptions) => ({ rules: rules.map(({ name }) => name), except });

const chosenBy: Readonly<Record<StoreChoice, string>> = {
  given: 'from --store',
  environment: 'from REPRISE_STORE',
  config: 'from the file',
  default: 'default',
};

function linesOf(out: Output, { file, store, namespace, agents, prices, masking }: ConfigAnswer): string[] {
  const line = (label: string, text: string): string => `${out.dim(label.padEnd(11))}${text}`;
  const agentLines = agents.map(({ name, kind }, index) =>
    line(index === 0 ? 'agents' : '', `${out.bold(plain(name))}  ${out.dim(plain(kind))}`),
  );
  return [
    line('file', file === null ? 'none' : plain(file)),
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
