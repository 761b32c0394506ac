import { rmSync } from 'node:fs';
import { Option } from 'commander';
import { RepriseError } from '../../core/error.ts';
import { given } from '../../core/json.ts';
import { withoutPassword } from '../../core/store/store-url.ts';
import { storeLocation } from '../../node/store-location.ts';
import type { CommandSpec } from '../command.ts';
import type { Context } from '../context.ts';
import { demoFile } from '../demo-file.ts';
import { done } from '../exit-code.ts';
import { textOption } from '../option-values.ts';
import { demoAgentName } from '../options/agent-options.ts';
import type { Story } from '../running/demo-story.ts';

/** The story of the demo, as `reprise demo --json` prints it. */
export interface DemoAnswer extends Story {
  readonly store: string;
}

/** `reprise demo`. */
export const demo: CommandSpec = {
  options: [new Option('--no-studio', 'open no studio at the end; only "npm start" does')],
  examples: ['reprise demo', 'reprise demo --store sqlite:story.db'],
  run: async (context, _values, options) => {
    const { out, storeUrl } = context;
    await refuseOwnAgent(context);
    const { tellStory } = await import('../running/demo-story.ts');
    const store = storeUrl ?? ownStore();
    refuseMemory(store);
    if (out.json === undefined)
      await out.line(out.bold('Reprise: a time machine for AI agents') + out.dim('  (offline)'));
    const namespace = textOption(options, 'namespace') ?? unreadNamespace(context);
    const story = await tellStory({ out, store, ...given({ namespace }) });
    if (out.json !== undefined) await out.value({ store: withoutPassword(store), ...story } satisfies DemoAnswer);
    out.say('\nThe store is still there. Run the "export" above, and every command works exactly as printed.');
    return done;
  },
};

/** Returns the demo's own store, which starts over every time. A store given with `--store` is only added to. */
function ownStore(): string {
  for (const end of ['', '-wal', '-shm']) rmSync(`${demoFile}${end}`, { force: true });
  return `sqlite:${demoFile}`;
}

/** Refuses to run where the project has its own agent `demo`: the story would start that one. */
async function refuseOwnAgent(context: Context): Promise<void> {
  const loaded = await context.config();
  if (!Object.hasOwn(loaded?.config.agents ?? {}, demoAgentName)) return;
  throw new RepriseError(
    'agent.invalid',
    `Cannot run the demo here: ${JSON.stringify(loaded?.file)} has its own agent "${demoAgentName}"`,
    { hint: 'Run the demo in a different directory.' },
  );
}

/** Returns the namespace that only the configuration names: most commands do not run it, so the story says it. */
function unreadNamespace(context: Context): string | undefined {
  const { config, settings } = context.project();
  return settings?.settings.namespace === undefined ? config?.config.namespace : undefined;
}

/** Refuses a memory store: each command runs as its own process. */
function refuseMemory(store: string): void {
  if (storeLocation(store).kind !== 'memory') return;
  throw new RepriseError(
    'store.unsupported',
    'Cannot run the demo in "memory:": each command runs as its own process',
    {
      hint: `Leave out --store to use ${demoFile}, or choose a file: --store sqlite:PATH`,
    },
  );
}
