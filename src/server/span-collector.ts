import { BoundedMap } from '../core/bounded-map.ts';
import { RepriseError } from '../core/error.ts';
import { checkId } from '../core/id.ts';
import type { JsonObject } from '../core/json.ts';
import { checkLimit } from '../core/limits.ts';
import type { EventStore } from '../core/store/event-store.ts';
import type { Reprise } from '../engine/reprise.ts';
import { checkNamespace, checkRight, checkUnbound, type Grant } from './grant.ts';
import { type SpanFormat, SpanGroup, spansIn } from './span-group.ts';

/** Traces that are remembered after their spans were stored, so that late ones find what is around them. */
const groupsMax = 1_000;
/** Bytes of the spans that are remembered; the traces that came first are forgotten beyond it. */
const rememberedBytesMax = 67_108_864;
/** How long a trace that looks whole waits for more. */
const quietMs = 50;

/** The parts of a collector. */
export interface CollectorParts {
  /** Loads the format when the first spans come. */
  readonly format: () => Promise<SpanFormat>;
  readonly store: EventStore;
  /** An engine that masks as recorders do. */
  readonly reprise: Reprise;
  readonly gatherMs: number;
  /** Gets how many spans were stored or refused. */
  readonly onSpans: (outcome: 'stored' | 'refused', count: number) => void;
  /** Bytes of spans to remember at most; 64 MiB if left out. */
  readonly rememberedBytes?: number;
}

/** The answer to an export. */
export interface Collected {
  readonly refused: number;
  readonly why: string;
}

interface HeldGroup {
  readonly group: SpanGroup;
  readonly namespace: string;
  /** Settles when the spans that wait are stored. */
  waiting: Promise<void> | undefined;
  /** Stores what waits now. */
  flush: () => void;
}

/**
 * Gathers spans by trace, since they come late, twice and before their parents, and stores the events that they mean. An
 * export is answered when its spans are stored.
 */
export class SpanCollector {
  readonly #parts: CollectorParts;
  readonly #groups = new BoundedMap<string, HeldGroup>(groupsMax);

  constructor(parts: CollectorParts) {
    this.#parts = parts;
  }

  /** Stores the spans of an export; returns how many were refused, and why. */
  async collect(grant: Grant, namespace: string, document: JsonObject): Promise<Collected> {
    checkUnbound(grant, 'send spans');
    checkRight(grant, 'append', 'send spans');
    checkNamespace(grant, checkId('namespace', namespace));
    const { spans, refused: malformed } = spansIn(document);
    checkLimit('serverSpansMax', spans.length, 'take spans');
    const touched = new Map<HeldGroup, number>();
    for (const span of spans) {
      const held = this.#groupOf(namespace, span.group);
      held.group.add(span);
      touched.set(held, (touched.get(held) ?? 0) + 1);
    }
    let refused = malformed;
    let why = malformed === 0 ? '' : `${malformed} spans have no ids that can be used`;
    const outcomes = await Promise.allSettled(Array.from(touched.keys(), (held) => this.#stored(held)));
    for (const [index, count] of [...touched.values()].entries()) {
      const outcome = outcomes[index];
      if (outcome?.status !== 'rejected') continue;
      // A store that is busy or gone may take them later: the exporter tries again.
      if (!(outcome.reason instanceof RepriseError) || isPassing(outcome.reason)) throw outcome.reason;
      refused += count;
      why = outcome.reason.message;
    }
    this.#forget();
    this.#parts.onSpans('stored', spans.length + malformed - refused);
    if (refused > 0) this.#parts.onSpans('refused', refused);
    return { refused, why };
  }

  /** Groups of spans that are remembered. */
  get remembered(): number {
    return this.#groups.size;
  }

  /** Forgets stored traces, those that came first before the others, until the rest may be kept. */
  #forget(): void {
    const { rememberedBytes = rememberedBytesMax } = this.#parts;
    let bytes = [...this.#groups.values()].reduce((sum, { group }) => sum + group.bytes, 0);
    for (const [key, { group, waiting }] of this.#groups) {
      if (bytes <= rememberedBytes) return;
      if (waiting !== undefined) continue;
      this.#groups.delete(key);
      bytes -= group.bytes;
    }
  }

  #groupOf(namespace: string, id: string): HeldGroup {
    const key = `${namespace}\n${id}`;
    const held = this.#groups.get(key);
    if (held !== undefined) return held;
    const made = {
      group: new SpanGroup(id),
      namespace,
      waiting: undefined,
      flush: () => undefined,
    };
    this.#groups.set(key, made);
    return made;
  }

  /** Waits until the trace is whole or its time is over, then stores what came. */
  #stored(held: HeldGroup): Promise<void> {
    if (held.group.isWhole && held.waiting !== undefined) held.flush();
    held.waiting ??= this.#gathered(held).then(async () => {
      held.waiting = undefined;
      await this.#store(held);
    });
    return held.waiting;
  }

  #gathered(held: HeldGroup): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, held.group.isWhole ? quietMs : this.#parts.gatherMs);
      held.flush = () => {
        clearTimeout(timer);
        setTimeout(resolve, quietMs);
      };
    });
  }

  async #store({ group, namespace }: HeldGroup): Promise<void> {
    const { fresh } = group;
    if (fresh.length === 0) return;
    const id = checkId('session', group.session);
    const session = await this.#parts.reprise.namespace(namespace).session(id, { create: true });
    const mask = await session.masker();
    const drafts = group.draftsOf(fresh, await this.#parts.format()).map((draft) => ({ ...mask(draft), id: draft.id }));
    const known = await this.#parts.store.locate(
      { namespace, session: session.id },
      drafts.map(({ id: own }) => own),
    );
    // Spans may have come before, to a process that remembers them no longer.
    const left = drafts.filter(({ id: own }) => !known.has(own));
    if (left.length > 0) await session.append(left);
    group.settle(fresh);
  }
}

function isPassing({ code }: RepriseError): boolean {
  return code === 'store.busy' || code === 'store.unreachable' || code === 'store.full' || code === 'store.closed';
}
