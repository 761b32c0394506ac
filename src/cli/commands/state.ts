import { refText } from '../../core/ref.ts';
import type { CommandSpec } from '../command.ts';
import { done } from '../exit-code.ts';
import { projectionNamed } from '../shipped-projections.ts';

/** `reprise state`. */
export const state: CommandSpec = {
  arguments: [
    { name: '<ref>', about: 'where: session[/branch][@at]' },
    { name: '[projection]', about: 'which one (default: summary); see "reprise projections"' },
  ],
  examples: ['reprise state latest conversation', 'reprise state demo@12 runs --json'],
  run: async (context, [text = 'latest', name = 'summary']) => {
    const projection = projectionNamed(name);
    const { session, ref, point } = await context.at(text);
    const value = await session.stateAt(point, projection);
    if (context.out.json !== undefined)
      await context.out.value({ ref: refText(ref), projection: name, version: projection.version ?? null, value });
    else await context.out.line(JSON.stringify(value, null, 2));
    return done;
  },
};
