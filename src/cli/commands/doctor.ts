import type { CommandSpec } from '../command.ts';
import { done, no } from '../exit-code.ts';
import { bytesText, countText } from '../render/amount.ts';
import { version } from '../version.ts';

/** `reprise doctor`. */
export const doctor: CommandSpec = {
  examples: ['reprise doctor', 'reprise doctor --store sqlite:other.db --json'],
  run: async (context) => {
    const { out } = context;
    const reprise = await context.open();
    const health = await reprise.health();
    let sessions = 0;
    for await (const _ of reprise.sessions()) sessions += 1;
    const release = { reprise: version(), node: process.versions.node };
    const isSound = health.problems.length === 0;
    if (out.json !== undefined) await out.value({ ...release, ...health, sessions, ok: isSound });
    else {
      const line = (label: string, text: string): Promise<void> => out.line(`${out.dim(label.padEnd(12))}${text}`);
      await line('reprise', `${release.reprise} on Node ${release.node}`);
      await line('store', `${health.kind}  ${health.location}`);
      await line('schema', health.schema);
      await line('durability', health.durability);
      await line('size', `${bytesText(health.bytes)}, ${countText(sessions)} sessions in namespace "${reprise.currentNamespace}"`);
      await line('integrity', isSound ? out.style('green', 'sound') : out.style('red', 'problems found'));
      for (const problem of health.problems) await out.line(`  ${out.style('red', problem)}`);
      if (!isSound) out.say('Copy the file before anything else; then "reprise verify" tells which histories are still whole.');
      else out.next('reprise list');
    }
    return isSound ? done : no;
  },
};

