import { projectionRow } from '../../reading/shipped-projections.ts';
import { shipped } from '../answering/node-projections.ts';
import type { CommandSpec } from '../command.ts';
import { done } from '../exit-code.ts';

/** `reprise projections`. */
export const projections: CommandSpec = {
  examples: ['reprise projections', 'reprise fold latest conversation'],
  run: async ({ out }) => {
    const width = Math.max(...shipped().map(({ name }) => name.length));
    for (const named of shipped()) {
      if (out.json === undefined) await out.line(`${out.bold(named.name.padEnd(width))}  ${named.about}`);
      else await out.value(projectionRow(named));
    }
    out.next('reprise fold latest conversation');
    return done;
  },
};
