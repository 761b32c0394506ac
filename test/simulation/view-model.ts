// Views, edits, rewinds, reverts, redo, forks and erasure as a slow, obvious program: it recomputes everything from raw
// history at every question. The real thing is held against it; it shares no code with it.

/** One stored event of the model. */
export interface ModelEvent {
  readonly seq: number;
  readonly type: 'note' | 'forked' | 'replaced' | 'inserted' | 'reverted' | 'rewound' | 'rewoundToTurn' | 'erased';
  readonly turn: number;
  readonly text: string;
  readonly target?: number;
  readonly after?: number;
  readonly targets?: readonly number[];
  readonly to?: number;
  readonly dropped?: readonly number[];
  readonly redo?: boolean;
  /** The edit that wrote it. */
  readonly edit?: number;
}

interface ModelBranch {
  readonly parent: { readonly branch: string; readonly seq: number } | null;
  readonly events: ModelEvent[];
}

/** One event of a view: its seq, every seq it answers to, its turn and what it says. */
export interface ModelEntry {
  readonly seq: number;
  readonly answers: readonly number[];
  readonly turn: number;
  readonly text: string;
  readonly after?: number;
}

/** The store must refuse what the model refuses. */
export class Refused extends Error {}

/** A session of the model. */
export class ViewModel {
  readonly branches = new Map<string, ModelBranch>([['main', { parent: null, events: [] }]]);
  /** Texts that were erased; a reader sees that something was there. */
  readonly forgotten = new Set<string>();

  /** The edit under way, and how many there were. */
  #edit: number | undefined;
  #edits = 0;

  head(branch: string): number {
    const { parent, events } = this.#branch(branch);
    return events.at(-1)?.seq ?? parent?.seq ?? 0;
  }

  /** Every stored event that leads to a point. */
  raw(branch: string, seq: number): ModelEvent[] {
    const { parent, events } = this.#branch(branch);
    if (parent !== null && seq <= parent.seq) return this.raw(parent.branch, seq);
    const before = parent === null ? [] : this.raw(parent.branch, parent.seq);
    return [...before, ...events.filter((event) => event.seq <= seq)];
  }

  /** The raw events in effect: after rewinds to a seq, other markers still in it. */
  #script(branch: string, seq: number): ModelEvent[] {
    const { parent, events } = this.#branch(branch);
    if (parent !== null && seq <= parent.seq) return this.#script(parent.branch, seq);
    let list = parent === null ? [] : this.#script(parent.branch, parent.seq);
    for (const event of events) {
      if (event.seq > seq) break;
      if (event.type === 'forked' || event.type === 'erased') continue;
      list = event.type === 'rewound' ? this.#script(branch, event.to as number) : [...list, event];
    }
    return list;
  }

  view(branch: string, seq: number = this.head(branch)): ModelEntry[] {
    const list = this.#script(branch, seq);
    const dead = cancelled(list);
    const markers = new Set(list.filter(isMarker).map((event) => event.seq));
    let entries: ModelEntry[] = [];
    for (const event of list) {
      if (dead.has(event.seq)) continue;
      if (event.type === 'note')
        entries.push({ seq: event.seq, answers: [event.seq], turn: event.turn, text: event.text });
      else if (event.type === 'replaced')
        entries = entries.map((entry) =>
          entry.answers.includes(event.target as number)
            ? { ...entry, seq: event.seq, answers: [...entry.answers, event.seq], text: event.text }
            : entry,
        );
      else if (event.type === 'inserted') entries = inserted(entries, event);
      else if (event.type === 'reverted')
        entries = entries.filter(
          (entry) => !entry.answers.some((held) => event.targets?.includes(held) === true && !markers.has(held)),
        );
      else entries = entries.filter((entry) => event.dropped?.includes(entry.seq) !== true);
    }
    return entries;
  }

  add(branch: string, text: string, turn?: number): void {
    this.#append(branch, { type: 'note', text, turn: turn ?? this.view(branch).at(-1)?.turn ?? 0 });
  }

  replace(branch: string, target: number, text: string): void {
    this.#mustBeInView(branch, target);
    this.#append(branch, { type: 'replaced', target, text, turn: 0 });
  }

  insert(branch: string, after: number, text: string): void {
    if (after !== 0) this.#mustBeInView(branch, after);
    this.#append(branch, { type: 'inserted', after, text, turn: 0 });
  }

  revert(branch: string, target: number): void {
    const list = this.#script(branch, this.head(branch));
    const marker = list.find((event) => event.seq === target && isMarker(event));
    if (marker?.type === 'rewoundToTurn') throw new Refused('a rewind');
    if (marker === undefined) this.#mustBeInView(branch, target);
    else if (cancelled(list).has(target)) throw new Refused('not in effect');
    this.#append(branch, { type: 'reverted', targets: [target], text: '', turn: 0 });
  }

  /** Takes out several events at once; each was found in the view. */
  revertAll(branch: string, targets: readonly number[]): void {
    this.#append(branch, { type: 'reverted', targets, text: '', turn: 0 });
  }

  rewind(branch: string, to: number): void {
    if (to < 0 || to > this.head(branch)) throw new Refused('no such seq');
    this.#append(branch, { type: 'rewound', to, text: '', turn: 0 });
  }

  rewindToTurn(branch: string, turn: number): void {
    const dropped = this.view(branch)
      .filter((entry) => entry.turn > turn)
      .map((entry) => entry.seq);
    this.#append(branch, { type: 'rewoundToTurn', dropped, text: '', turn: 0 });
  }

  /** Does several things as one edit. */
  edit(body: () => void): void {
    this.#edit = ++this.#edits;
    try {
      body();
    } finally {
      this.#edit = undefined;
    }
  }

  redo(branch: string): void {
    const marker = this.#lastLiveMarker(branch, this.head(branch));
    const shown = new Set(this.view(branch).flatMap((entry) => entry.answers));
    const { events } = this.#branch(branch);
    const appended = events.findLast(
      (event) => event.type === 'note' && event.edit !== undefined && shown.has(event.seq),
    );
    const last = (marker?.seq ?? 0) > (appended?.seq ?? 0) ? marker : appended;
    if (last === undefined) throw new Refused('nothing to redo');
    if (last.type !== 'rewound') {
      const list = this.#script(branch, this.head(branch));
      const dead = cancelled(list);
      const isInEffect = (event: ModelEvent): boolean =>
        isMarker(event) ? list.includes(event) && !dead.has(event.seq) : shown.has(event.seq);
      const whole = events.filter((event) => event.edit === last.edit && isInEffect(event));
      const targets = last.edit === undefined ? [last.seq] : whole.map((event) => event.seq);
      this.#append(branch, { type: 'reverted', targets, redo: true, text: '', turn: 0 });
      return;
    }
    const before = new Set(this.view(branch, last.seq - 1).map((entry) => entry.seq));
    if (this.view(branch).some((entry) => entry.seq > last.seq && !before.has(entry.seq))) throw new Refused('orphans');
    this.#append(branch, { type: 'rewound', to: last.seq - 1, redo: true, text: '', turn: 0 });
  }

  fork(
    branch: string,
    seq: number,
    name: string,
    edits: readonly (readonly ['replace' | 'insert' | 'drop', number, string])[] = [],
  ): void {
    if (this.branches.has(name)) throw new Refused('duplicate name');
    if (seq < 0 || seq > this.head(branch)) throw new Refused('no such seq');
    this.branches.set(name, { parent: { branch, seq }, events: [] });
    try {
      this.#append(name, { type: 'forked', text: '', turn: 0 });
      this.edit(() => {
        for (const [kind, target, text] of edits) {
          if (kind === 'replace') this.replace(name, target, text);
          else if (kind === 'insert') this.insert(name, target, text);
          else this.revert(name, target);
        }
      });
    } catch (error) {
      this.branches.delete(name);
      throw error;
    }
  }

  /** Forgets a text wherever it is; every branch that stores one of its events gets a marker. */
  erase(branch: string, seq: number): void {
    const target = this.raw(branch, seq).find((event) => event.seq === seq);
    if (target === undefined || target.type !== 'note' || this.forgotten.has(target.text))
      throw new Refused('nothing to erase');
    this.forgotten.add(target.text);
    for (const [name, { events }] of this.branches) {
      if (events.some((event) => event.text === target.text)) this.#append(name, { type: 'erased', text: '', turn: 0 });
    }
  }

  #lastLiveMarker(branch: string, seq: number, undone: readonly number[] = []): ModelEvent | undefined {
    const { parent, events } = this.#branch(branch);
    if (parent !== null && seq <= parent.seq) return undefined;
    const own = events.filter((event) => event.seq <= seq);
    const rewind = own.findLast((event) => event.type === 'rewound');
    const list = this.#script(branch, seq);
    const dead = cancelled(list);
    const since = own.findLast(
      (event) =>
        isMarker(event) &&
        event.redo !== true &&
        !dead.has(event.seq) &&
        !undone.includes(event.seq) &&
        event.seq > (rewind?.seq ?? 0) &&
        list.includes(event),
    );
    if (since !== undefined) return since;
    return rewind?.redo === true ? this.#lastLiveMarker(branch, rewind.to as number, [...undone, ...dead]) : rewind;
  }

  #branch(name: string): ModelBranch {
    return this.branches.get(name) as ModelBranch;
  }

  #append(branch: string, event: Omit<ModelEvent, 'seq'>): void {
    const edit = this.#edit === undefined ? {} : { edit: this.#edit };
    this.#branch(branch).events.push({ seq: this.head(branch) + 1, ...event, ...edit });
  }

  #mustBeInView(branch: string, seq: number): void {
    if (!this.view(branch).some((entry) => entry.answers.includes(seq))) throw new Refused(`${seq} is not in the view`);
  }
}

function isMarker(event: ModelEvent): boolean {
  return event.type !== 'note' && event.type !== 'forked' && event.type !== 'erased';
}

/** Markers that a later, live revert has taken back. */
function cancelled(list: readonly ModelEvent[]): Set<number> {
  const out = new Set<number>();
  for (const event of list.toReversed()) {
    if (event.type !== 'reverted' || out.has(event.seq)) continue;
    for (const target of event.targets ?? [])
      if (list.some((held) => held.seq === target && isMarker(held))) out.add(target);
  }
  return out;
}

function inserted(entries: readonly ModelEntry[], event: ModelEvent): ModelEntry[] {
  let place = event.after === 0 ? 0 : entries.findIndex((entry) => entry.answers.includes(event.after as number)) + 1;
  if (event.after !== 0 && place === 0) return [...entries];
  while (entries[place]?.after === event.after) place++;
  const turn = event.after === 0 ? 0 : (entries[place - 1]?.turn ?? 0);
  return entries.toSpliced(place, 0, {
    seq: event.seq,
    answers: [event.seq],
    turn,
    text: event.text,
    after: event.after as number,
  });
}
