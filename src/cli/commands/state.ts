import { refText } from '../../core/ref.ts';
import { projectionNamed } from '../answering/shipped-projections.ts';
import type { CommandSpec } from '../command.ts';
import { done } from '../exit-code.ts';
import { jsonText } from '../terminal/json-text.ts';

/** `reprise state`. */
export const state: CommandSpec = {
  arguments: [
    { name: '<ref>', about: 'where: session[/branch][@at]' },
    { name: '[projection]', about: 'which one (default: state, what agents wrote); see "reprise projections"' },
  ],
  examples: ['reprise state latest', 'reprise state latest conversation', 'reprise state demo@12 runs --json'],
  run: async (context, [text = 'latest', name = 'state']) => {
    const { out } = context;
    const projection = projectionNamed(name);
    const { session, ref, point } = await context.at(text);
    out.progress.begin('state', (await session.locate(point)).seq);
    const value = await session.stateAt(point, projection);
    out.progress.end();
    if (out.json === undefined) await out.line(jsonText(value, 2));
    else await out.value({ ref: refText(ref), projection: name, version: projection.version ?? null, value });
    return done;
  },
};
