import { canonicalJson } from '../core/canonical-json.ts';
import { itemKey, type ListEdit, type ListItem } from '../core/decode.ts';
import { createAligner, tokensOf } from '../core/diff-align.ts';
import type { Event } from '../core/event.ts';
import { isObject, type JsonValue, valueAt } from '../core/json.ts';
import { messageKey } from '../core/message.ts';
import type { Digest, Seq } from '../core/point.ts';
import { clipSegments, rawSegments } from '../core/segment.ts';
import { readAll } from './events.ts';
import { earlierCall, type ListCall, listCalls } from './list-calls.ts';
import { itemAfter, saidBy } from './list-items.ts';
import { ListReader, listPath } from './list-reader.ts';
import type { Look } from './look.ts';

/** An event that a view shows changed. */
export interface Change {
  /** The event as it was, and as it was after each replacement but the last. */
  readonly versions: readonly Event[];
  /** As it is now; undefined when it was taken out. */
  readonly after: Event | undefined;
}

/** A version of a changed event that may stand in a list recorded after it. */
interface Sought {
  readonly change: Change;
  readonly event: Event;
  readonly foundIn: Set<Conversation>;
}

/** The calls of one agent in one run, of which each list goes on from the one before. */
interface Conversation {
  readonly agent: string | null;
  readonly run: string | null;
  /** The seq of the last call. */
  seq: Seq;
  /** The nodes of its list, first one first. */
  nodes: Digest[];
}

/** Which lists may hold what an event said: those of its own run, or those of all runs of its agent. */
type Reach = 'same-run' | 'same-agent';

/**
 * Goes through the lists that were recorded since the first change, and finds in each what was changed. A list that
 * does not go on from the one before (another process wrote it, or the agent shortened its context) is aligned with it.
 */
export class ListScan {
  readonly #look: Look;
  readonly #edits: Map<string, ListEdit>;
  readonly #reach: Reach;
  readonly #reader: ListReader;
  readonly #conversations = new Map<string, Conversation>();
  #sought: readonly Sought[] = [];
  #calls: ReadonlyMap<Seq, Change> = new Map();
  #first: Seq = 0 as Seq;

  constructor(look: Look, edits: Map<string, ListEdit>, reach: Reach) {
    this.#look = look;
    this.#edits = edits;
    this.#reach = reach;
    this.#reader = new ListReader(look.engine, look.hypothesis.place.session);
  }

  /** Adds the edits of these changes; gives those changes that no list holds. */
  async run(changes: readonly Change[]): Promise<readonly Change[]> {
    const isCall = ({ versions }: Change): boolean => versions[0]?.type === 'call.started';
    const said = changes.filter((change) => !isCall(change));
    this.#calls = new Map(changes.filter(isCall).map((change) => [(change.versions[0] as Event).seq, change]));
    this.#sought = said
      .flatMap((change) => change.versions.map((event) => ({ change, event, foundIn: new Set<Conversation>() })))
      .sort((a, b) => a.event.seq - b.event.seq);
    const first = Math.min(...changes.map(({ versions }) => (versions[0] as Event).seq)) as Seq;
    this.#first = first;
    for await (const calls of listCalls(this.#look, first)) {
      await this.#reader.turnTo(calls.flatMap(({ list }) => list ?? []));
      for (const call of calls) await this.#take(call);
    }
    return said.filter((change) => !this.#sought.some((held) => held.change === change && held.foundIn.size > 0));
  }

  async #take(call: ListCall): Promise<void> {
    const conversation = await this.#conversationOf(call);
    const at = new Map(conversation.nodes.map((node, index) => [node, index]));
    const isSupposed = call.list === undefined;
    const { base, nodes } = isSupposed
      ? { base: null, nodes: [] }
      : await this.#reader.nodesSince(call.list, (node) => at.has(node));
    const kept = base === null ? 0 : (at.get(base) as number) + 1;
    const change = this.#calls.get(call.seq);
    if (isSupposed || nodes.length > 0) {
      const before = conversation.nodes.slice(kept);
      const fresh = await this.#fresh(before, isSupposed ? call.items : nodes);
      for (const sought of this.#sought) await this.#find(sought, call, conversation, fresh);
      if (change !== undefined && !isSupposed)
        this.#changeCall(change, await this.#reader.itemsOf([...conversation.nodes.slice(0, kept), ...nodes]), fresh);
    }
    if (call.isCarried || isSupposed) return;
    conversation.nodes = [...conversation.nodes.slice(0, kept), ...nodes];
    conversation.seq = call.seq;
  }

  /** What was not in the list before. What was, is the same message, and is changed as that one is. */
  async #fresh(before: readonly Digest[], now: readonly Digest[] | readonly ListItem[]): Promise<ListItem[]> {
    const isRead = (list: readonly Digest[] | readonly ListItem[]): list is readonly ListItem[] =>
      typeof list[0] === 'object';
    const items = isRead(now) ? now : await this.#reader.itemsOf(now);
    const known = before.length === 0 ? [] : await this.#reader.itemsOf(before);
    const matches = new Int32Array(items.length).fill(-1);
    if (known.length > 0) {
      const align = createAligner(tokensOf(items, known, contentOf));
      align({ left: [0, items.length], right: [0, known.length] }, matches);
    }
    return items.filter((item, index) => {
      const same = known[matches[index] as number];
      const edit = same === undefined ? undefined : this.#edits.get(itemKey(same));
      if (edit !== undefined) this.#edits.set(itemKey(item), edit);
      return same === undefined;
    });
  }

  /** Looks for what an event said among the new items of a list. */
  async #find(sought: Sought, call: ListCall, conversation: Conversation, fresh: readonly ListItem[]): Promise<void> {
    const { event, change, foundIn } = sought;
    if (event.seq >= call.seq || foundIn.has(conversation) || !this.#mayHold(call, event)) return;
    const equal = fresh.filter((item) => !this.#edits.has(itemKey(item)) && saidBy(event, item.value));
    const item = equal.length < 2 ? equal[0] : equal[await this.#ordinal(event, conversation, equal.length - 1)];
    if (item === undefined) return;
    foundIn.add(conversation);
    this.#edits.set(itemKey(item), editOf(change, event, item.value));
  }

  /** Whether a call may have been sent what an event said. */
  #mayHold({ agent, run }: Pick<ListCall, 'agent' | 'run'>, event: Event): boolean {
    if (this.#reach === 'same-agent') return (event.agent ?? null) === agent;
    return (event.agent === undefined || event.agent === agent) && (event.run === undefined || event.run === run);
  }

  /** How many others said the same in the conversation since its last call, before this one did. */
  async #ordinal(event: Event, conversation: Conversation, most: number): Promise<number> {
    const { engine, hypothesis } = this.#look;
    const changed = new Set(this.#sought.map((held) => held.event.seq));
    const range = { after: conversation.seq, through: Math.min(event.seq - 1, hypothesis.place.seq) as Seq };
    const segments = clipSegments(rawSegments(hypothesis.history, hypothesis.place.seq), range);
    const told = (await readAll(engine, hypothesis.place.session, segments)).filter(
      (held) => concernsLists(held) && !changed.has(held.seq) && this.#mayHold(conversation, held),
    );
    const message = event.data['message'] ?? null;
    return Math.min(most, told.filter((held) => saidBy(held, message)).length);
  }

  /** A replaced call: what its own list added and no longer has is changed in every later list. */
  #changeCall({ after }: Change, items: readonly ListItem[], fresh: readonly ListItem[]): void {
    const now = after === undefined ? undefined : valueAt(after.data, listPath);
    if (!Array.isArray(now)) return;
    const own = new Set(fresh.map(itemKey));
    const same = (left: number, right: number): boolean => contentOf(items[left]) === contentOfValue(now[right]);
    let start = 0;
    while (start < items.length && start < now.length && same(start, start)) start++;
    let end = 0;
    while (end < Math.min(items.length, now.length) - start && same(items.length - 1 - end, now.length - 1 - end))
      end++;
    for (const [index, item] of items.slice(0, items.length - end).entries()) {
      const key = itemKey(item);
      if (index < start || !own.has(key) || this.#edits.has(key)) continue;
      const value = index < now.length - end ? (now[index] as JsonValue) : undefined;
      this.#edits.set(key, value === undefined ? { kind: 'drop' } : { kind: 'replace', value });
    }
  }

  /** The conversation a call belongs to. A run that was not seen yet goes on from its own last call, or its agent's. */
  async #conversationOf({ agent, run, seq }: ListCall): Promise<Conversation> {
    const key = JSON.stringify([agent, run]);
    const known = this.#conversations.get(key);
    if (known !== undefined) return known;
    const own = await earlierCall(this.#look, this.#first, { agent, run });
    const others = [...this.#conversations.values()].filter((held) => held.agent === agent);
    const last = others.reduce<Conversation | undefined>(
      (a, b) => (a !== undefined && a.seq > b.seq ? a : b),
      undefined,
    );
    const earlier = own ?? (last === undefined ? await earlierCall(this.#look, this.#first, { agent }) : undefined);
    const nodes =
      earlier === undefined ? (last?.nodes ?? []) : (await this.#reader.nodesSince(earlier.list, () => false)).nodes;
    const conversation = { agent, run, seq: (earlier?.seq ?? last?.seq ?? 0) as Seq, nodes: [...nodes] };
    if (seq > conversation.seq) this.#conversations.set(key, conversation);
    return conversation;
  }
}

const concernsLists = ({ type, erased }: Event): boolean =>
  erased !== true && (type === 'message.added' || type === 'call.ended');

const contentOf = (item: ListItem | undefined): string => contentOfValue(item?.value);

function contentOfValue(value: JsonValue | undefined): string {
  return isObject(value) ? messageKey(value) : canonicalJson(value ?? null);
}

function editOf({ after }: Change, event: Event, item: JsonValue): ListEdit {
  return after === undefined ? { kind: 'drop' } : { kind: 'replace', value: itemAfter(event, after, item) };
}
