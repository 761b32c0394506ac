import { agentKind, type Config } from '../../core/recording/config.ts';
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
    const found = await inEffect(context);
    if (out.json !== undefined) await out.value(found);
    else {
      await out.lines(linesOf(out, found));
      const [agent] = found.agents;
      if (agent !== undefined) out.next(`reprise resume latest --with ${agent.name}`);
      else if (found.file === null)
        out.say(`One to begin with:\n\n${firstConfig}\n\nMore in docs/guides/configure.md of the package.`);
    }
    return done;
  },
};

/** A configuration to begin with. */
const firstConfig = `  // reprise.config.ts
  import { defineConfig } from 'reprise';
  import { support } from './agent.ts'; // a function of the context, or aiSdkAgent(…), openaiAgent(…), langgraphAgent(…)
  export default defineConfig({ agents: { support } });`;

/** What is in effect here, and who said so. */
interface InEffect {
  readonly file: string | null;
  readonly store: { readonly url: string; readonly by: StoreChoice };
  readonly namespace: string;
  readonly agents: readonly { readonly name: string; readonly kind: string }[];
  /** The models whose prices the file gives. */
  readonly prices: readonly string[];
  /** Null where nothing is masked. */
  readonly masking: { readonly rules: readonly string[]; readonly except: readonly string[] } | null;
}

async function inEffect(context: Context): Promise<InEffect> {
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
    masking:
      masking === false ? null : { rules: (masking.rules ?? []).map(({ name }) => name), except: masking.except ?? [] },
  };
}

const saidBy: Readonly<Record<StoreChoice, string>> = {
  given: '--store',
  environment: 'REPRISE_STORE',
  config: 'the file',
  default: 'the default',
};

function linesOf(out: Output, { file, store, namespace, agents, prices, masking }: InEffect): string[] {
  const line = (label: string, text: string): string => `${out.dim(label.padEnd(11))}${text}`;
  const agentLines = agents.map(({ name, kind }, index) =>
    line(index === 0 ? 'agents' : '', `${out.bold(plain(name))}  ${out.dim(plain(kind))}`),
  );
  return [
    line('file', file === null ? 'none' : plain(file)),
    line('store', `${plain(store.url)}  ${out.dim(`by ${saidBy[store.by]}`)}`),
    line('namespace', plain(namespace)),
    ...(agents.length === 0 ? [line('agents', 'none')] : agentLines),
    line('prices', prices.length === 0 ? 'the known ones' : `the known ones and ${prices.map(plain).join(', ')}`),
    line('masking', maskingText(masking)),
  ];
}

function maskingText(masking: InEffect['masking']): string {
  if (masking === null) return 'nothing is masked';
  const { rules, except } = masking;
  const own =
    rules.length === 0 ? '' : ` and ${plural(rules.length, 'rule')} of the file: ${rules.map(plain).join(', ')}`;
  return `the built-in rules${except.length === 0 ? '' : ` but ${except.join(', ')}`}${own}`;
}
