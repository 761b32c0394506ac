/**
 * Beliefs, scopes, rewinds, reverts, forks and what-ifs as a slow, obvious program: everything is computed from raw
 * history at every question. The engine is held against it.
 */

type Data = Readonly<Record<string, unknown>>;

interface ModelEvent {
  readonly seq: number;
  readonly id: string;
  readonly type: string;
  readonly turn: number;
  readonly agent?: string | undefined;
  readonly cause?: string | undefined;
  readonly data: Data;
}

/** An event of a view: it knows every id and seq it answers to. */
export interface Entry extends ModelEvent {
  readonly ids: readonly string[];
  readonly seqs: readonly number[];
}

type Draft = Omit<ModelEvent, 'seq' | 'id'> & { readonly id?: string };

/** A claim to commit. */
export interface ModelClaim {
  readonly id: string;
  readonly agent?: string;
  readonly topic?: string;
  readonly claim: string;
  readonly kind: string;
  readonly value?: number;
  readonly trust?: number;
  readonly turn?: number;
  readonly beside?: boolean;
  readonly cause?: string;
}

/** Where and through whose eyes to look. */
export interface ModelLook {
  readonly seq?: number;
  readonly turn?: number;
  readonly as?: string;
}

/** Thrown where the engine has to refuse too. */
export class ModelRefusal extends Error {}

const isBelief = (type: string): boolean => /^(belief|contradiction)\./.test(type);
const claimsIn = (events: readonly Entry[]): Entry[] => events.filter(({ type }) => type === 'belief.committed');
const named = (events: readonly Entry[], id: string): Entry | undefined => events.find(({ ids }) => ids.includes(id));
const endOf = (events: readonly Entry[], claim: Entry): number =>
  Math.min(
    Number.POSITIVE_INFINITY,
    ...events
      .filter((e) => e.type === 'belief.superseded' && claim.ids.includes(String(e.data['belief'])))
      .map(({ turn }) => turn),
  );
const superseded = (loser: Entry, winner: ModelEvent, turn: number): Draft => ({
  type: 'belief.superseded',
  turn,
  cause: winner.id,
  data: { belief: loser.id, by: winner.id },
});

function wordsOf(claim: string): { readonly text: string; readonly isNegated: boolean } {
  const words = claim.toLowerCase().split(/[^\p{L}\p{N}]+/u);
  const plain = words.filter((word) => word !== 'not');
  return { text: plain.join(' '), isNegated: (words.length - plain.length) % 2 === 1 };
}

function contradict(a: Data, b: Data): boolean {
  if (a['topic'] === undefined || a['kind'] !== b['kind']) return false;
  if (a['value'] !== undefined && b['value'] !== undefined) return a['value'] !== b['value'];
  const [left, right] = [wordsOf(String(a['claim'])), wordsOf(String(b['claim']))];
  if (left.text === right.text) return left.isNegated !== right.isNegated;
  return a['kind'] === 'decision';
}

const restates = (a: Entry, b: Entry): boolean =>
  a.agent === b.agent && ['kind', 'claim', 'value'].every((field) => a.data[field] === b.data[field]);

/** A session of the model. */
export class BeliefModel {
  readonly #strategy: string;
  readonly branches: Map<
    string,
    {
      readonly parent: { readonly branch: string; readonly seq: number; readonly turn: number } | null;
      readonly events: ModelEvent[];
    }
  > = new Map([['main', { parent: null, events: [] }]]);
  #ids = 0;

  constructor(strategy: string) {
    this.#strategy = strategy;
  }

  head(branch: string): number {
    const { parent, events } = this.#branch(branch);
    return events.at(-1)?.seq ?? parent?.seq ?? 0;
  }

  #branch(name: string) {
    const found = this.branches.get(name);
    if (found === undefined) throw new ModelRefusal(`no branch ${name}`);
    return found;
  }

  #raw(branch: string, seq: number): readonly ModelEvent[] {
    const { parent, events } = this.#branch(branch);
    if (parent !== null && seq <= parent.seq) return this.#raw(parent.branch, seq);
    let list = parent === null ? [] : this.#raw(parent.branch, parent.seq);
    for (const event of events) {
      if (event.seq > seq) break;
      const to = event.type === 'branch.rewound' ? event.data['to'] : undefined;
      list = to === undefined ? [...list, event] : this.#raw(branch, Number(to));
    }
    return list;
  }

  view(branch: string, seq: number = this.head(branch)): readonly Entry[] {
    const events = this.#raw(branch, seq);
    const seqsIn = ({ data }: ModelEvent): readonly number[] => (data['seqs'] ?? []) as readonly number[];
    const isTakenBack = (event: ModelEvent): boolean =>
      events.some((e) => e.type === 'event.reverted' && seqsIn(e).includes(event.seq));
    let entries: Entry[] = [];
    for (const event of events) {
      const { type, data } = event;
      if (type === 'branch.forked' || (type === 'branch.rewound' && isTakenBack(event))) continue;
      if (type === 'event.reverted' || type === 'branch.rewound')
        entries = entries.filter((e) => !e.seqs.some((q) => seqsIn(event).includes(q)));
      else if (type === 'event.replaced')
        entries = entries.map((e) =>
          e.seqs.includes(Number(data['target']))
            ? {
                ...e,
                data: { ...e.data, ...(data['data'] as Data) },
                id: event.id,
                seq: event.seq,
                seqs: [...e.seqs, event.seq],
                ids: [...e.ids, event.id],
              }
            : e,
        );
      else entries.push({ ...event, seqs: [event.seq], ids: [event.id] });
    }
    return entries;
  }

  #seen(branch: string, { seq, turn }: ModelLook): { readonly now: number; readonly events: readonly Entry[] } {
    const events = this.view(branch, seq);
    const now = turn ?? Math.max(0, ...events.map((e) => e.turn));
    return { now, events: events.filter((e) => e.turn <= now) };
  }

  /** Returns the claims that stand, by the ids they had first. */
  beliefsAt(branch: string, look: ModelLook = {}): string[] {
    const { events } = this.#seen(branch, look);
    const { as } = look;
    const scope = as === undefined ? 'all' : this.scopeAt(branch, as, look);
    return claimsIn(events)
      .filter((claim) => endOf(events, claim) === Number.POSITIVE_INFINITY)
      .filter(
        ({ data }) =>
          scope === 'all' ||
          (scope.length > 0 && (data['topic'] === undefined || scope.includes(String(data['topic'])))),
      )
      .map(({ ids }) => ids[0] as string)
      .sort();
  }

  scopeAt(branch: string, agent: string, look: ModelLook): readonly string[] | 'all' {
    const { events } = this.#seen(branch, look);
    let scope: readonly string[] | 'all' = [];
    for (const { type, agent: who, data } of events) {
      if (who !== agent || !type.startsWith('agent.')) continue;
      scope = type === 'agent.ended' ? [] : ((data['scope'] ?? 'all') as readonly string[] | 'all');
    }
    return scope;
  }

  #settle(events: readonly Entry[], claim: Entry, cause: string): Draft[] {
    const meetings = claimsIn(events)
      .filter((other) => other.seq !== claim.seq && other.data['topic'] === claim.data['topic'])
      .map((other) => ({ other, turn: Math.max(other.turn, claim.turn), isSame: restates(claim, other) }))
      .filter(
        ({ other, turn, isSame }) =>
          turn < endOf(events, other) && turn < endOf(events, claim) && (isSame || contradict(claim.data, other.data)),
      )
      .map((m) => ({ ...m, winner: this.#winner(m.isSame, claim, m.other) }))
      .sort((a, b) => a.turn - b.turn || a.other.seq - b.other.seq);
    const lost = meetings.find(({ winner }) => winner !== claim);
    const kept = meetings.filter(
      (m) => m === lost || (m.winner === claim && m.turn < (lost?.turn ?? Number.POSITIVE_INFINITY)),
    );
    return [
      ...kept.map(({ other, turn, winner }) => superseded(winner === claim ? other : claim, winner, turn)),
      ...kept
        .filter((m) => !m.isSame)
        .flatMap(({ turn }): Draft[] => [
          { type: 'contradiction.detected', turn, cause, data: {} },
          { type: 'contradiction.settled', turn, cause, data: {} },
        ]),
    ];
  }

  #winner(isSame: boolean, claim: Entry, other: Entry): Entry {
    const [existing, added] = other.seq < claim.seq ? [other, claim] : [claim, other];
    if (!isSame && this.#strategy === 'highest-trust')
      return Number(added.data['trust']) > Number(existing.data['trust']) ? added : existing;
    return added.turn >= existing.turn ? added : existing;
  }

  append(branch: string, drafts: readonly Draft[]): ModelEvent[] {
    return drafts.map((draft) => {
      const event = { ...draft, id: draft.id ?? `m${++this.#ids}`, seq: this.head(branch) + 1 };
      this.#branch(branch).events.push(event);
      return event;
    });
  }

  #turnNow(branch: string): number {
    return Math.max((this.#branch(branch).parent?.turn ?? -1) + 1, this.view(branch).at(-1)?.turn ?? 0);
  }

  /** Adds an event of no belief, for the rule that the engine keeps in the log. */
  note(branch: string): void {
    this.append(branch, [{ type: 'note.added', turn: 0, data: {} }]);
  }

  commit(branch: string, claim: ModelClaim, takesPlace = false): void {
    const { id, agent, turn, cause, beside = false, ...data } = claim;
    const at = turn ?? this.#turnNow(branch);
    const events = this.view(branch);
    const seq = this.head(branch) + 1;
    const added: Entry = {
      id,
      type: 'belief.committed',
      seq,
      turn: at,
      agent,
      data: { trust: 1, ...data },
      ids: [id],
      seqs: [seq],
    };
    const older =
      takesPlace && !beside
        ? claimsIn(events).filter(
            (c) => endOf(events, c) > Math.max(c.turn, at) && c.turn <= at && c.data['topic'] === data.topic,
          )
        : [];
    const explicit = older.map((c) => superseded(c, added, Math.max(c.turn, at)));
    const now = [...events, added, ...explicit.map((e) => ({ ...e, id: '', seq: -1, ids: [], seqs: [] }))];
    const settled = beside ? [] : this.#settle(now, added, id);
    this.append(branch, [{ id, type: added.type, turn: at, agent, cause, data: added.data }, ...explicit, ...settled]);
  }

  spawn(branch: string, agent: string, scope: readonly string[] | 'all'): void {
    this.append(branch, [{ type: 'agent.spawned', agent, turn: this.#turnNow(branch), data: { scope } }]);
  }

  change(branch: string, agent: string, scope: readonly string[] | 'all', turn: number): void {
    if (!this.view(branch).some(({ type, agent: who }) => type === 'agent.spawned' && who === agent))
      throw new ModelRefusal(`no agent ${agent}`);
    this.append(branch, [{ type: 'agent.changed', agent, turn, data: { scope } }]);
  }

  rewind(branch: string, { turn, only }: { readonly turn: number; readonly only?: 'beliefs' | undefined }): number {
    const seqs = this.view(branch)
      .filter((e) => e.turn > turn && (only === undefined || isBelief(e.type)))
      .flatMap((e) => e.seqs);
    const data = { toTurn: turn, only, seqs };
    return (this.append(branch, [{ type: 'branch.rewound', turn: this.#turnNow(branch), data }])[0] as ModelEvent).seq;
  }

  rewindTo(branch: string, seq: number): void {
    this.append(branch, [{ type: 'branch.rewound', turn: this.#turnNow(branch), data: { to: seq } }]);
  }

  unrewind(branch: string, seq: number): void {
    const rewound = this.#raw(branch, this.head(branch)).find((e) => e.seq === seq);
    const taken = (rewound?.data['seqs'] ?? []) as readonly number[];
    const draft = { type: 'event.reverted', turn: this.#turnNow(branch), data: { seqs: [seq] } };
    const [marker] = this.append(branch, [draft]) as [ModelEvent];
    this.#settleAgain(
      branch,
      marker,
      claimsIn(this.view(branch)).filter((claim) => taken.includes(claim.seq)),
    );
  }

  #settleAgain(branch: string, marker: ModelEvent, claims: readonly Entry[]): void {
    for (const { ids } of claims) {
      const events = this.view(branch);
      this.append(branch, this.#settle(events, named(events, ids[0] as string) as Entry, marker.id));
    }
  }

  revert(branch: string, id: string): void {
    const events = this.view(branch);
    const target = named(events, id);
    if (target === undefined) throw new ModelRefusal(`${id} is not in the view`);
    const isKin = (e: Entry): boolean =>
      e.cause !== undefined && target.ids.includes(e.cause) && /^(belief\.superseded|contradiction\.)/.test(e.type);
    const gone = events.filter((e) => e === target || isKin(e));
    const draft = { type: 'event.reverted', turn: this.#turnNow(branch), data: { seqs: gone.flatMap((e) => e.seqs) } };
    const [marker] = this.append(branch, [draft]) as [ModelEvent];
    const after = this.view(branch);
    const freed = gone
      .filter(({ type }) => type === 'belief.superseded')
      .flatMap((e) => named(after, String(e.data['belief'])) ?? []);
    this.#settleAgain(branch, marker, freed);
  }

  replace(branch: string, id: string, data: Data): void {
    const target = named(this.view(branch), id);
    if (target === undefined) throw new ModelRefusal(`${id} is not in the view`);
    const draft = { type: 'event.replaced', turn: this.#turnNow(branch), data: { target: target.seq, data } };
    this.append(branch, [draft]);
  }

  fork(branch: string, turn: number, name: string): void {
    const seq = this.head(branch);
    this.branches.set(name, { parent: { branch, seq, turn }, events: [] });
    this.append(name, [{ type: 'branch.forked', turn, data: {} }]);
    this.rewind(name, { turn });
  }
}
