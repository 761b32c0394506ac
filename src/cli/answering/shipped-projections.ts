import { RepriseError } from '../../core/error.ts';
import type { Projection } from '../../core/event/projection.ts';
import { nearest } from '../../core/nearest.ts';
import { createNodePlatform } from '../../node/platform.ts';
import { conversation } from '../../projections/conversation.ts';
import { fingerprintProjection } from '../../projections/fingerprint.ts';
import { graphState } from '../../projections/graph-state.ts';
import { metadata } from '../../projections/metadata.ts';
import { runs } from '../../projections/runs.ts';
import { state } from '../../projections/state.ts';
import { summary } from '../../projections/summary.ts';

/** The projections that can be named on the command line. */
export const shipped: Readonly<
  Record<string, { readonly projection: Projection<never, unknown>; readonly about: string }>
> = {
  conversation: {
    projection: conversation as unknown as Projection<never, unknown>,
    about: 'the messages as the model saw them, its settings, open calls',
  },
  runs: {
    projection: runs as unknown as Projection<never, unknown>,
    about: 'runs › turns › calls with status, timing, tokens, cost',
  },
  state: {
    projection: state as unknown as Projection<never, unknown>,
    about: 'what agents wrote, by agent and key, with versions',
  },
  graph: {
    projection: graphState as unknown as Projection<never, unknown>,
    about: 'what a graph (LangGraph) had saved, by channel',
  },
  summary: { projection: summary as unknown as Projection<never, unknown>, about: 'what `list` shows of a history' },
  metadata: { projection: metadata as unknown as Projection<never, unknown>, about: "a branch's metadata" },
  fingerprint: {
    projection: fingerprintProjection(createNodePlatform().sha256) as unknown as Projection<never, unknown>,
    about: 'how a history behaved, as one value',
  },
};

/** A projection by name; a misspelt one is answered with the nearest. */
export function projectionNamed(name: string): Projection<never, unknown> {
  const found = Object.hasOwn(shipped, name) ? shipped[name] : undefined;
  if (found !== undefined) return found.projection;
  const near = nearest(name, Object.keys(shipped));
  throw new RepriseError(
    'projection.invalid',
    `Cannot use the projection ${JSON.stringify(name)}: there is none of that name`,
    {
      hint: near === undefined ? `There are ${Object.keys(shipped).join(', ')}.` : `Did you mean "${near}"?`,
    },
  );
}
