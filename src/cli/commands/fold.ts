import { eventsUpTo } from '../../reading/open-ref.ts';
import { readProjection } from '../../reading/shipped-projections.ts';
import { projectionNamed } from '../answering/node-projections.ts';
import type { CommandSpec } from '../command.ts';
import { done } from '../exit-code.ts';
import { jsonText } from '../terminal/json-text.ts';

/** `reprise fold`. */
export const fold: CommandSpec = {
  arguments: [
    { name: '<ref>', about: 'point: session[/branch][@at]' },
    { name: '[projection]', about: 'projection to print, see "reprise projections" (default: state)' },
  ],
  examples: ['reprise fold latest', 'reprise fold latest conversation', 'reprise fold demo@12 runs --json'],
  run: async (context, [text = 'latest', name = 'state']) => {
    const { out } = context;
    const projection = projectionNamed(name);
    const found = await context.at(text);
    out.progress.begin('fold', eventsUpTo(found));
    const answer = await readProjection(found, projection);
    out.progress.end();
    if (out.json === undefined) await out.line(jsonText(answer.value, 2));
    else await out.value(answer);
    return done;
  },
};
