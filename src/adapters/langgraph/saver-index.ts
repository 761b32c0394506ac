import { RepriseError } from '../../core/error.ts';
import type { Event } from '../../core/event/event.ts';
import { isStructural } from '../../core/event/families/structural.ts';
import { arrayAt, isObject } from '../../core/json.ts';
import { onwardFrom, throughHead } from '../../core/session/read-through.ts';
import type { BranchNode, SessionLog } from '../../core/session/session-log.ts';

/** Where a checkpoint is kept. */
export interface Saved {
  readonly namespace: string;
  readonly id: string;
  readonly parent: string | undefined;
  /** The branch through which it is read, and the branch that stores it. */
  readonly branch: string;
  readonly stored: string;
  readonly seq: number;
  /** The channels whose `channel.saved` precede it in its append, in that order. */
  readonly changed: readonly string[];
}

/** Where writes on a checkpoint are kept. */
export interface Wrote {
  readonly branch: string;
  readonly stored: string;
  readonly seq: number;
  readonly task: string;
  readonly indexes: readonly number[];
}

/** One branch, as far as it was read. */
interface Line {
  readonly branch: string;
  readonly parent: BranchNode['parent'];
  readonly createdAt: string;
  head: number;
  digest: Event['digest'];
  /** Whether it has the whole view, rather than the branch's own events. */
  readonly isWhole: boolean;
  readonly byNamespace: Map<string, Saved[]>;
}

const graphEvents: readonly string[] = ['graph.saved', 'graph.wrote'];
const edits: readonly string[] = ['branch.rewound', 'event.replaced', 'event.inserted', 'event.reverted'];

/**
 * Finds everything that a graph saved in a session. It reads the log, and continues where it stopped last time, so that
 * it also sees the events of other processes. It reads a rewound or edited history through its views: what is undone
 * there is undone for the graph too.
 */
export class SaverIndex {
  readonly session: SessionLog;
  /** Reads the view of this branch alone; all branches if undefined. */
  readonly #only: string | undefined;
  readonly #lines = new Map<string, Line>();
  readonly #saved = new Map<string, Saved>();
  readonly #wrote = new Map<string, Wrote[]>();
  /** Channels that this process has written: the store knows how their values continue. */
  readonly #written = new Set<string>();
  #isEdited = false;

  constructor(session: SessionLog, only?: string) {
    this.session = session;
    this.#only = only;
  }

  /** Whether markers change how the history is read. */
  get isEdited(): boolean {
    return this.#isEdited || this.#only !== undefined;
  }

  /** The branches that were read, parents first. */
  get branches(): readonly string[] {
    return [...this.#lines.keys()];
  }

  /** Returns a checkpoint by its id. */
  find(namespace: string, id: string): Saved | undefined {
    return this.#saved.get(keyOf(namespace, id));
  }

  /** Returns the checkpoint with the greatest id, which is the newest. */
  latest(namespace: string): Saved | undefined {
    let found: Saved | undefined;
    for (const saved of this.#saved.values())
      if (saved.namespace === namespace && (found === undefined || saved.id > found.id)) found = saved;
    return found;
  }

  /** Returns every checkpoint, the newest first. */
  all(): Saved[] {
    return [...this.#saved.values()].sort((a, b) => (a.id < b.id ? 1 : a.id > b.id ? -1 : 0));
  }

  /** Returns the writes on a checkpoint, in the order they were stored. */
  writes(namespace: string, id: string): readonly Wrote[] {
    return this.#wrote.get(keyOf(namespace, id)) ?? [];
  }

  /** Returns the last checkpoint of a graph on a branch. */
  tip(branch: string, namespace: string, through: number = Number.POSITIVE_INFINITY): Saved | undefined {
    const line = this.#lines.get(branch);
    const own = line?.byNamespace.get(namespace)?.findLast(({ seq }) => seq <= through);
    if (own !== undefined || line === undefined || line.isWhole || line.parent === null) return own;
    return this.tip(line.parent.branch, namespace, Math.min(through, line.parent.seq));
  }

  /** Returns the first checkpoint of a graph on the first branch of the session. */
  first(namespace: string): Saved | undefined {
    const [root] = this.#lines.values();
    return root?.byNamespace.get(namespace)?.[0];
  }

  /** Returns the place of a channel's value that a checkpoint saved. */
  valueAt(saved: Saved, channel: string): { readonly branch: string; readonly seq: number } | undefined {
    const place = saved.changed.indexOf(channel);
    return place < 0 ? undefined : { branch: saved.stored, seq: saved.seq - saved.changed.length + place };
  }

  /** Returns true if this process writes a channel for the first time, and notes that it did. */
  isFirstWrite(namespace: string, channel: string): boolean {
    const key = keyOf(namespace, channel);
    const isFirst = !this.#written.has(key);
    this.#written.add(key);
    return isFirst;
  }

  /** Reads the events that any process has appended since. */
  async refresh(): Promise<void> {
    const nodes = this.#nodes(await this.session.tree());
    if (!this.#goesOn(nodes)) this.#clear();
    for (const node of nodes) {
      const line = this.#lines.get(node.branch);
      if (line?.head === node.head) continue;
      const isRead = line === undefined && this.isEdited ? await this.#readView(node) : await this.#readRaw(node, line);
      if (isRead) continue;
      // The events read so far are not the view any more.
      this.#clear();
      this.#isEdited = true;
      return this.refresh();
    }
  }

  /** Takes in the events that this process has just appended, unless a different writer came in between. */
  note(events: readonly Event[]): void {
    const [first] = events;
    const line = first === undefined ? undefined : this.#lines.get(first.branch);
    if (first === undefined || line === undefined || line.head + 1 !== first.seq) return;
    for (const event of events) {
      this.#take(line, event);
      line.head = event.seq;
      line.digest = event.digest;
    }
  }

  #nodes(root: BranchNode): readonly BranchNode[] {
    const nodes: BranchNode[] = [root];
    for (const node of nodes) nodes.push(...node.children);
    if (this.#only === undefined) return nodes;
    const found = nodes.filter(({ branch }) => branch === this.#only);
    if (found.length > 0) return found;
    throw new RepriseError('branch.not-found', `Cannot continue the graph on branch "${this.#only}": there is none`, {
      hint: 'Leave "reprise_branch" out of the configuration, or fork the branch first.',
    });
  }

  /** Returns true if the branches are those that were read, only longer. */
  #goesOn(nodes: readonly BranchNode[]): boolean {
    const byName = new Map(nodes.map((node) => [node.branch, node]));
    return [...this.#lines.values()].every((line) => {
      const node = byName.get(line.branch);
      const onward = node === undefined ? 'anew' : onwardFrom(throughHead(line), throughHead(node));
      return onward === 'nothing' || onward === 'more';
    });
  }

  /** Reads the whole view of a branch. */
  async #readView(node: BranchNode): Promise<boolean> {
    const line: Line = { ...node, isWhole: true, byNamespace: new Map() };
    const at = this.session.branch(node.branch).at(node.head);
    for await (const event of at.replay({ filter: { types: graphEvents } })) this.#take(line, event);
    this.#lines.set(node.branch, line);
    return true;
  }

  /** Reads the new events of a branch; returns false if one is an edit, which changes what came before. */
  async #readRaw(node: BranchNode, known: Line | undefined): Promise<boolean> {
    const line = known ?? { ...node, isWhole: false, byNamespace: new Map<string, Saved[]>() };
    const after = known?.head ?? node.parent?.seq ?? 0;
    const at = this.session.branch(node.branch).at(node.head);
    const filter = { types: [...graphEvents, ...edits] };
    for await (const event of at.replay({ history: 'raw', after, filter })) {
      if (edits.includes(event.type)) return false;
      this.#take(line, event);
    }
    line.head = node.head;
    line.digest = node.digest;
    this.#lines.set(node.branch, line);
    return true;
  }

  #take(line: Line, event: Event): void {
    if (isStructural(event.type) || event.erased === true) return;
    if (event.type === 'graph.saved') this.#takeSaved(line, event);
    if (event.type === 'graph.wrote') this.#takeWrites(line, event);
  }

  #takeSaved(line: Line, { branch: stored, seq, data }: Event): void {
    const { parent, changed } = data;
    const saved: Saved = {
      namespace: String(data['namespace']),
      id: String(data['saved']),
      parent: typeof parent === 'string' ? parent : undefined,
      branch: line.branch,
      stored,
      seq,
      changed: Array.isArray(changed) ? changed.map(String) : [],
    };
    const key = keyOf(saved.namespace, saved.id);
    const known = this.#saved.get(key);
    // A shared checkpoint is read through the first branch; the last one saved under an id counts.
    if (known === undefined || (known.stored === stored && known.seq < seq)) this.#saved.set(key, saved);
    const own = line.byNamespace.get(saved.namespace) ?? [];
    const again = known === undefined ? -1 : own.findLastIndex(({ id }) => id === saved.id);
    if (again >= 0) own.splice(again, 1);
    own.push(saved);
    line.byNamespace.set(saved.namespace, own);
  }

  #takeWrites(line: Line, { branch: stored, seq, data }: Event): void {
    const key = keyOf(String(data['namespace']), String(data['saved']));
    const held = this.#wrote.get(key) ?? [];
    if (held.some((wrote) => wrote.seq === seq && wrote.stored === stored)) return;
    const indexes = (arrayAt(data, 'writes') ?? []).map((write) => (isObject(write) ? Number(write['index']) : 0));
    held.push({ branch: line.branch, stored, seq, task: String(data['task']), indexes });
    this.#wrote.set(key, held);
  }

  #clear(): void {
    this.#lines.clear();
    this.#saved.clear();
    this.#wrote.clear();
  }
}

const keyOf = (namespace: string, id: string): string => JSON.stringify([namespace, id]);
