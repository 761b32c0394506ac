import { shipped } from '../answering/shipped-projections.ts';
import type { CommandSpec } from '../command.ts';
import { done } from '../exit-code.ts';

/** `reprise projections`. */
export const projections: CommandSpec = {
  examples: ['reprise projections', 'reprise state latest conversation'],
  run: async ({ out }) => {
    const width = Math.max(...Object.keys(shipped).map((name) => name.length));
    for (const [name, { projection, about }] of Object.entries(shipped)) {
      if (out.json === undefined) await out.line(`${out.bold(name.padEnd(width))}  ${about}`);
      else await out.value({ name, version: projection.version ?? null, history: projection.history, about });
    }
    out.next('reprise state latest conversation');
    return done;
  },
};
