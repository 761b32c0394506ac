import { rmSync } from 'node:fs';
import { Option } from 'commander';
import { RepriseError } from '../../core/error.ts';
import { withoutPassword } from '../../core/store/store-url.ts';
import { storeLocation } from '../../node/store-location.ts';
import type { CommandSpec } from '../command.ts';
import type { Context } from '../context.ts';
import { demoFile } from '../demo-file.ts';
import { done } from '../exit-code.ts';
import { demoAgentName } from '../options/agent-options.ts';

/** `reprise demo`. */
export const demo: CommandSpec = {
  options: [new Option('--no-studio', 'only the story in the terminal')],
  examples: ['reprise demo', 'reprise demo --store sqlite:story.db'],
  run: async (context, _values, { namespace }) => {
    const { out, storeUrl } = context;
    await refuseOwnAgent(context);
    const { tellStory } = await import('../running/demo-story.ts');
    const store = storeUrl ?? ownStore();
    refuseMemory(store);
    if (out.json === undefined)
      await out.line(out.bold('Reprise: a time machine for AI agents') + out.dim('  (offline)'));
    const told = await tellStory({ out, store, ...(typeof namespace === 'string' ? { namespace } : {}) });
    if (out.json !== undefined) await out.value({ store: withoutPassword(store), ...told });
    out.say('\nAll of it is still there: after the "export" above, every command works as it is printed.');
    return done;
  },
};

/** The demo's own file begins anew every time; a store that was named is only added to. */
function ownStore(): string {
  for (const end of ['', '-wal', '-shm']) rmSync(`${demoFile}${end}`, { force: true });
  return `sqlite:${demoFile}`;
}

/** The story must not start an agent that is somebody's own. */
async function refuseOwnAgent(context: Context): Promise<void> {
  const loaded = await context.config();
  if (!Object.hasOwn(loaded?.config.agents ?? {}, demoAgentName)) return;
  throw new RepriseError(
    'agent.invalid',
    `Cannot tell the story here: ${JSON.stringify(loaded?.file)} has an agent "${demoAgentName}" of its own`,
    { hint: 'Run it in another folder.' },
  );
}

/** The commands are processes of their own. */
function refuseMemory(store: string): void {
  if (storeLocation(store).kind !== 'memory') return;
  throw new RepriseError(
    'store.unsupported',
    'Cannot tell the story in "memory:": each command is a process of its own',
    {
      hint: `Leave --store out for ${demoFile}, or name a file: --store sqlite:PATH`,
    },
  );
}
