import type { Event } from '../core/event/event.ts';
import { shippedProjection } from '../core/event/kept-name.ts';
import type { Projection } from '../core/event/projection.ts';
import { arrayAt, isArray, isObject, type JsonObject, type JsonValue, setKey } from '../core/json.ts';
import type { Seq } from '../core/point.ts';

/** The last saved state of one graph. */
export interface GraphSnapshot {
  /** The framework's own id of the saved state. */
  readonly id: string;
  readonly seq: Seq;
  /** The value of each channel. Messages and other objects of the framework are shown as `{ type, …fields }`. */
  readonly values: JsonObject;
}

/** The last saved state of every graph: of the outermost under the empty name, of subgraphs under their path. */
export type GraphStates = Readonly<Record<string, GraphSnapshot>>;

/** A stored value, and the id of the saved state it was stored with. */
/** The last value of a channel, as the fold keeps it. */
export interface FoldedChannel {
  readonly from: string;
  readonly data: JsonObject;
}

/** The last state of a graph, as the fold keeps it. */
export interface FoldedGraph {
  readonly id: string;
  readonly seq: Seq;
  readonly channels: Record<string, FoldedChannel>;
}

/** The value that the fold of {@link graphState} keeps. */
export interface GraphFold {
  readonly graphs: Record<string, FoldedGraph>;
  /** Values whose `graph.saved` has not come yet, by namespace and channel. */
  readonly coming: Record<string, Record<string, JsonObject>>;
}

/**
 * The state of graphs at a point: the channels of the last `graph.saved` of each. It is empty unless a graph saved its
 * state in the session, as LangGraph does with a `RepriseSaver`.
 *
 * @example
 * ```ts
 * await session.append([
 *   { type: 'channel.saved', data: { namespace: '', channel: 'plan', type: 'json', text: '"ask"' } },
 *   {
 *     type: 'graph.saved',
 *     data: {
 *       namespace: '',
 *       saved: 'c1',
 *       changed: ['plan'],
 *       values: { plan: { from: 'c1', version: 1 } },
 *       state: { type: 'json', text: '{}' },
 *       metadata: { type: 'json', text: '{}' },
 *     },
 *   },
 * ]);
 * const { '': outermost } = await session.fold(graphState);
 * console.log(outermost?.values); // { plan: 'ask' }
 * ```
 */
export const graphState: Projection<GraphFold, GraphStates> = shippedProjection({
  name: 'graph',
  version: '1',
  history: 'view',
  initial: () => ({ graphs: {}, coming: {} }),
  apply: (held, event) => {
    const namespace = event.data['namespace'];
    if (event.erased === true || typeof namespace !== 'string') return held;
    if (event.type === 'channel.saved') keepValue(held, namespace, event.data);
    if (event.type === 'graph.saved') keepGraph(held, namespace, event);
    return held;
  },
  finish: ({ graphs }) => {
    const states: Record<string, GraphSnapshot> = {};
    for (const [namespace, { id, seq, channels }] of Object.entries(graphs)) {
      const values: Record<string, JsonValue> = {};
      for (const [channel, { data }] of Object.entries(channels)) setKey(values, channel, shown(valueOf(data)));
      setKey(states, namespace, { id, seq, values });
    }
    return states;
  },
});

function keepValue({ coming }: GraphFold, namespace: string, data: JsonObject): void {
  const values = Object.hasOwn(coming, namespace) ? (coming[namespace] as Record<string, JsonObject>) : {};
  setKey(values, String(data['channel']), data);
  setKey(coming, namespace, values);
}

function keepGraph({ graphs, coming }: GraphFold, namespace: string, { seq, data }: Event): void {
  const id = String(data['saved']);
  const before = Object.hasOwn(graphs, namespace) ? graphs[namespace]?.channels : undefined;
  const fresh = Object.hasOwn(coming, namespace) ? coming[namespace] : undefined;
  const channels: Record<string, FoldedChannel> = {};
  for (const [channel, held] of Object.entries(isObject(data['values']) ? data['values'] : {})) {
    const from = String(isObject(held) ? held['from'] : '');
    const kept = before !== undefined && Object.hasOwn(before, channel) ? before[channel] : undefined;
    const value = fresh !== undefined && Object.hasOwn(fresh, channel) ? fresh[channel] : undefined;
    if (from === id && value !== undefined) setKey(channels, channel, { from, data: value });
    else if (kept?.from === from) setKey(channels, channel, kept);
  }
  delete coming[namespace];
  // A subgraph of one task is done when the graph around it saves again; its path names the task.
  if (namespace === '') for (const inner of Object.keys(graphs)) if (inner.includes(':')) delete graphs[inner];
  setKey(graphs, namespace, { id, seq, channels });
}

/** Returns the value of a channel; a value that is not JSON stays base64. */
function valueOf(data: JsonObject): JsonValue {
  const items = arrayAt(data, 'items');
  if (items !== undefined) return items.map((item) => (typeof item === 'string' ? parsed(item) : item));
  const written = data['text'] ?? data['body'];
  return typeof written === 'string' ? parsed(written) : (data['bytes'] ?? null);
}

function parsed(text: string): JsonValue {
  try {
    const value: JsonValue = JSON.parse(text);
    return value;
  } catch {
    return text;
  }
}

/** Returns a value for readers: LangChain stores an object as its constructor and arguments, and this shows the arguments. */
function shown(value: JsonValue): JsonValue {
  if (isArray(value)) return value.map(shown);
  if (!isObject(value)) return value;
  const { lc, type, id, kwargs } = value;
  if (typeof lc === 'number' && type === 'constructor' && isArray(id) && isObject(kwargs))
    return shownFields(kwargs, { type: id.at(-1) ?? '' });
  return shownFields(value, {});
}

function shownFields(fields: JsonObject, result: Record<string, JsonValue>): JsonObject {
  for (const [key, held] of Object.entries(fields)) setKey(result, key, shown(held));
  return result;
}
