import { canonicalJson } from '../../core/canonical-json.ts';
import { createAligner, tokensOf } from '../../core/comparing/diff-align.ts';
import { assert } from '../../core/error.ts';
import type { Event } from '../../core/event/event.ts';
import { isArray, isObject, type JsonValue, valueAt } from '../../core/json.ts';
import { messageKey } from '../../core/message/message.ts';
import { editAt, itemKey, type ListEdit, type ListItem } from '../../core/parts/decode.ts';
import { beginning, type Digest, maxSeq, minSeq, previous, type Seq } from '../../core/point.ts';
import { viewAt } from '../../core/view/view.ts';
import { earlierCall, type ListCall, listCalls } from './list-calls.ts';
import { itemAfter, saidBy } from './list-items.ts';
import { ListReader, listPathOf } from './list-reader.ts';
import { eventsOf, type Sight } from './sight.ts';

/** An event that a view shows changed, or no longer shows. */
export interface Change {
  /** The original event, and each replacement but the last. */
  readonly versions: readonly Event[];
  /** The event as it is now; undefined if it was removed. */
  readonly after: Event | undefined;
  /** The seq of the marker that made the last change. */
  readonly at: Seq;
}

/** A version of a changed event, and the seq up to which the view showed it: lists recorded until then may have it. */
interface Sought {
  readonly change: Change;
  readonly event: Event;
  readonly until: Seq;
}

/** The calls of one agent in one run: each list continues the one before. */
interface Conversation {
  readonly agent: string | null;
  readonly run: string | null;
  /** The seq of the last call. */
  seq: Seq;
  /** The nodes of its list in order, and the position of each. */
  readonly nodes: Digest[];
  readonly positions: Map<Digest, number>;
  /** Its edited items, by node and then by key: a node that comes again later may contain a different message. */
  readonly edited: Map<string, Map<string, Edited>>;
  /** The changes its agent ignored: it keeps sending the message as it was. */
  readonly unheeded: Set<Change>;
}

/** An item that is read through an edit, with its event and the change of that event. */
interface Edited {
  readonly change: Change;
  readonly event: Event;
  readonly edit: ListEdit;
}

/** The part of a call's list that the conversation did not have before. */
interface NewList {
  readonly call: ListCall;
  readonly conversation: Conversation;
  /** How many nodes it shares with the list before. */
  readonly kept: number;
  /** The items after the shared nodes. */
  readonly items: readonly ListItem[];
  /** Which of those items are edited, by key. */
  readonly edited: Map<string, { readonly item: ListItem; readonly edited: Edited }>;
}

/** A list aligned with the one before it: the items that only it has, and those that only the other has. */
interface Aligned {
  readonly fresh: readonly ListItem[];
  readonly gone: readonly ListItem[];
}

/** Which lists may contain an event's message: those of its own run, or those of all runs of its agent. */
type Reach = 'same-run' | 'same-agent';

/**
 * Scans the lists recorded since the first change, and finds the changed messages in each. A list that does not
 * continue the one before, because a different process wrote it or the agent shortened its context, is aligned with it.
 */
export class ListScan {
  readonly #sight: Sight;
  readonly #edits: Map<string, ListEdit[]>;
  readonly #reach: Reach;
  readonly #reader: ListReader;
  readonly #conversations = new Map<string, Conversation>();
  readonly #found = new Set<Change>();
  #sought: readonly Sought[] = [];
  #calls: ReadonlyMap<Seq, Change> = new Map();
  #first: Seq = beginning;

  constructor(sight: Sight, edits: Map<string, ListEdit[]>, reach: Reach) {
    this.#sight = sight;
    this.#edits = edits;
    this.#reach = reach;
    this.#reader = new ListReader(sight.engine, sight.hypothesis.place.session);
  }

  /** Adds the edits of these changes, and returns the changes that are in no list. */
  async run(changes: readonly Change[]): Promise<readonly Change[]> {
    const isCall = ({ versions }: Change): boolean => listPathOf(versions[0]?.type ?? '') !== undefined;
    const said = changes.filter((change) => !isCall(change));
    this.#calls = new Map(changes.filter(isCall).map((change) => [firstOf(change).seq, change]));
    this.#sought = said.flatMap(soughtOf).sort((a, b) => a.event.seq - b.event.seq);
    this.#first = changes.map((change) => firstOf(change).seq).reduce(minSeq);
    for await (const calls of listCalls(this.#sight, this.#first)) {
      await this.#reader.turnTo(calls.flatMap(({ list }) => list ?? []));
      for (const call of calls) await this.#take(call);
    }
    return said.filter((change) => !this.#found.has(change));
  }

  async #take(call: ListCall): Promise<void> {
    const conversation = await this.#conversationOf(call);
    const { positions } = conversation;
    const end = unchangedUntil(conversation, call.seq);
    const { base, nodes } =
      call.list === undefined
        ? { base: null, nodes: [] }
        : await this.#reader.nodesSince(call.list, (node) => (positions.get(node) ?? end) < end);
    const kept = base === null ? 0 : (positions.get(base) as number) + 1;
    const items = call.list === undefined ? call.items : await this.#reader.itemsOf(nodes);
    const edited = await this.#compare({ call, conversation, kept, items, edited: new Map() });
    if (!call.isCarried && call.list !== undefined) goOn(conversation, call.seq, kept, nodes, edited);
  }

  /** Finds the changed items of a list; those it shares with the list before are known. */
  async #compare(list: NewList): Promise<NewList['edited']> {
    const { call, conversation, kept, items, edited } = list;
    if (items.length === 0) return edited;
    const fresh = await this.#heeding(
      list,
      this.#align(list, await this.#reader.itemsOf(conversation.nodes.slice(kept))),
    );
    for (const sought of this.#sought) await this.#find(sought, list, fresh);
    const change = this.#calls.get(call.seq);
    if (change !== undefined) {
      const whole = [...(await this.#reader.itemsOf(conversation.nodes.slice(0, kept))), ...items];
      this.#changeCall(change, list, whole, fresh);
    }
    return edited;
  }

  /** Aligns a list with the one before. Items in both are the same messages, and have the same edits. */
  #align(list: NewList, before: readonly ListItem[]): Aligned {
    const { call, conversation, items } = list;
    const shown = before.flatMap((item) => shownAt(call.seq, item, editedIn(conversation, item)));
    const matches = new Int32Array(items.length).fill(-1);
    const align = createAligner(tokensOf(items, shown, contentOf));
    align({ left: [0, items.length], right: [0, shown.length] }, matches);
    const gone = new Map(before.map((item) => [itemKey(item), item]));
    const fresh = items.filter((item, index) => {
      const same = shown[matches[index] as number];
      const edited = same === undefined ? undefined : editedIn(conversation, same);
      if (same !== undefined) gone.delete(itemKey(same));
      if (edited !== undefined && edited.edit.until > call.seq) this.#edit(list, item, edited);
      return same === undefined;
    });
    return { fresh, gone: [...gone.values()] };
  }

  /**
   * Returns the new items that are really new. An item with the text of a changed message that was not sent again
   * meanwhile is that message: the agent keeps sending it as it was, and it is read through the change too.
   */
  async #heeding(list: NewList, { fresh, gone }: Aligned): Promise<readonly ListItem[]> {
    const { call, conversation } = list;
    const left = [...fresh];
    for (const held of gone) {
      const edited = editedIn(conversation, held);
      if (edited === undefined || edited.change.at > call.seq || edited.edit.until > call.seq) continue;
      const at = left.findIndex((item) => contentOf(item) === contentOf(held));
      const item = left[at];
      const since = minSeq(edited.change.at, conversation.seq);
      if (item === undefined || (await this.#saidSince(since, call, item))) continue;
      this.#edit(list, item, { ...edited, edit: { ...edited.edit, until: Number.POSITIVE_INFINITY as Seq } });
      conversation.unheeded.add(edited.change);
      left.splice(at, 1);
    }
    return left;
  }

  async #saidSince(seq: Seq, call: ListCall, item: ListItem): Promise<boolean> {
    const view = viewAt(this.#sight.hypothesis.history, previous(call.seq));
    for await (const { events } of eventsOf(this.#sight, view))
      if (events.some((event) => event.seq > seq && this.#mayHold(call, event) && saidBy(event, item.value)))
        return true;
    return false;
  }

  #edit({ edited: now }: NewList, item: ListItem, edited: Edited): void {
    const key = itemKey(item);
    now.set(key, { item, edited });
    const others = (this.#edits.get(key) ?? []).filter((held) => held.until !== edited.edit.until);
    this.#edits.set(key, [...others, edited.edit]);
  }

  /** Looks for what an event said among the new items of a list. */
  async #find({ change, event, until }: Sought, list: NewList, fresh: readonly ListItem[]): Promise<void> {
    const { call } = list;
    if (call.seq <= event.seq || call.seq >= until || !this.#mayHold(call, event) || holds(list, change)) return;
    const equal = fresh.filter((item) => saidBy(event, item.value));
    const from = equal.length < 2 ? 0 : await this.#ordinal(event, list);
    const isFree = (item: ListItem): boolean => editAt(this.#edits, item, call.seq) === undefined;
    const item = equal.slice(from).find(isFree) ?? equal.findLast(isFree);
    if (item !== undefined) {
      this.#found.add(change);
      this.#edit(list, item, { change, event, edit: editOf(change, event, item.value) });
    } else if (!isObject(event.data['message'])) this.#editAgain(list, equal[0], change, event);
  }

  /** Edits an item that has an edit already: one message may contain the results of several calls. */
  #editAgain(list: NewList, item: ListItem | undefined, change: Change, event: Event): void {
    const known = item === undefined ? undefined : editAt(this.#edits, item, list.call.seq);
    if (item === undefined || known?.kind !== 'replace' || !saidBy(event, known.value)) return;
    this.#found.add(change);
    const next = editOf(change, event, known.value);
    const window = { after: maxSeq(known.after, next.after), until: minSeq(known.until, next.until) };
    const key = itemKey(item);
    const edit = { ...next, ...window };
    list.edited.set(key, { item, edited: { change, event, edit } });
    // The first edit that is valid at a seq counts.
    this.#edits.set(key, [edit, ...(this.#edits.get(key) ?? [])]);
  }

  /** Returns true if a call's list may contain the message of an event. */
  #mayHold({ agent, run }: Pick<ListCall, 'agent' | 'run'>, event: Event): boolean {
    if (this.#reach === 'same-agent') return (event.agent ?? null) === agent;
    return (event.agent === undefined || event.agent === agent) && (event.run === undefined || event.run === run);
  }

  /**
   * Counts the events with the same message that a call's view has before this one, since the conversation's last call.
   */
  async #ordinal(event: Event, { call, conversation }: NewList): Promise<number> {
    const message = event.data['message'] ?? null;
    const { pieces } = viewAt(this.#sight.hypothesis.history, previous(call.seq));
    let count = 0;
    for await (const { events } of eventsOf(this.#sight, { pieces })) {
      for (const held of events) {
        if (held.seq === event.seq) return count;
        if (held.seq === conversation.seq) count = 0;
        else if (held.erased !== true && this.#mayHold(call, held) && saidBy(held, message)) count++;
      }
    }
    return 0;
  }

  /** Edits every later list after a call was replaced: items that its list added and no longer has. */
  #changeCall(change: Change, list: NewList, items: readonly ListItem[], fresh: readonly ListItem[]): void {
    const { after } = change;
    const path = after === undefined ? undefined : listPathOf(after.type);
    const now = after === undefined || path === undefined ? undefined : valueAt(after.data, path);
    if (!isArray(now)) return;
    const event = firstOf(change);
    const own = new Set(fresh.map(itemKey));
    const same = (left: number, right: number): boolean => contentOf(items[left]) === contentOfValue(now[right]);
    let start = 0;
    while (start < items.length && start < now.length && same(start, start)) start++;
    let end = 0;
    while (end < Math.min(items.length, now.length) - start && same(items.length - 1 - end, now.length - 1 - end))
      end++;
    for (const [index, item] of items.slice(0, items.length - end).entries()) {
      if (index < start || !own.has(itemKey(item)) || editAt(this.#edits, item, event.seq) !== undefined) continue;
      const value = index < now.length - end ? now[index] : undefined;
      this.#edit(list, item, { change, event, edit: windowed(change, value) });
    }
  }

  /** Returns the conversation of a call. A new run continues its own last call, or its agent's. */
  async #conversationOf({ agent, run }: ListCall): Promise<Conversation> {
    const key = JSON.stringify([agent, run]);
    const known = this.#conversations.get(key);
    if (known !== undefined) return known;
    const own = await earlierCall(this.#sight, this.#first, { agent, run });
    const others = [...this.#conversations.values()].filter((held) => held.agent === agent);
    const last = others.reduce<Conversation | undefined>(
      (a, b) => (a !== undefined && a.seq > b.seq ? a : b),
      undefined,
    );
    const earlier = own ?? (last === undefined ? await earlierCall(this.#sight, this.#first, { agent }) : undefined);
    const nodes = earlier === undefined ? [] : (await this.#reader.nodesSince(earlier.list, () => false)).nodes;
    const conversation = newConversation(agent, run, own === undefined ? last : undefined);
    goOn(conversation, earlier?.seq ?? last?.seq ?? beginning, conversation.nodes.length, nodes);
    this.#conversations.set(key, conversation);
    return conversation;
  }
}

/** Returns the event of a change as it was first. */
function firstOf({ versions: [first] }: Change): Event {
  assert(first !== undefined, 'a change has a version');
  return first;
}

function soughtOf(change: Change): Sought[] {
  return change.versions.map((event, index) => {
    const until = change.versions[index + 1]?.seq ?? change.at;
    return { change, event, until };
  });
}

/** Creates a conversation that begins as a copy of a different one. */
function newConversation(agent: string | null, run: string | null, from: Conversation | undefined): Conversation {
  return {
    agent,
    run,
    seq: from?.seq ?? beginning,
    nodes: [...(from?.nodes ?? [])],
    positions: new Map(from?.positions),
    edited: new Map(Array.from(from?.edited ?? [], ([node, items]) => [node, new Map(items)])),
    unheeded: new Set(from?.unheeded),
  };
}

/** Sets the list of a conversation to its first nodes and these. */
function goOn(
  conversation: Conversation,
  seq: Seq,
  kept: number,
  nodes: readonly Digest[],
  edited: NewList['edited'] = new Map(),
): void {
  for (const node of conversation.nodes.splice(kept)) {
    conversation.positions.delete(node);
    conversation.edited.delete(node);
  }
  for (const node of nodes) {
    conversation.positions.set(node, conversation.nodes.length);
    conversation.nodes.push(node);
  }
  for (const [key, { item, edited: held }] of edited) {
    const ofNode = conversation.edited.get(item.node) ?? new Map<string, Edited>();
    conversation.edited.set(item.node, ofNode.set(key, held));
  }
  conversation.seq = seq;
}

/**
 * Returns how many nodes of a conversation a call sees as they were recorded. The next one was changed since, so a node
 * with the same text may be a different message.
 */
function unchangedUntil({ nodes, positions, edited, unheeded }: Conversation, seq: Seq): number {
  let end = nodes.length;
  for (const [node, items] of edited) {
    const position = positions.get(node as Digest) ?? end;
    const isChanged = [...items.values()].some(({ change }) => change.at < seq && !unheeded.has(change));
    if (position < end && isChanged) end = position;
  }
  return end;
}

function editedIn({ edited }: Conversation, item: ListItem): Edited | undefined {
  return edited.get(item.node)?.get(itemKey(item));
}

/** Returns whether a list has a changed message already. */
function holds({ conversation, kept, edited: now }: NewList, change: Change): boolean {
  for (const { edited } of now.values()) if (edited.change === change) return true;
  const { edited, positions } = conversation;
  for (const [node, items] of edited) {
    if ((positions.get(node as Digest) ?? kept) >= kept) continue;
    for (const held of items.values()) if (held.change === change) return true;
  }
  return false;
}

/** Returns an item as a list recorded at a seq has it: with earlier edits, without later ones. */
function shownAt(seq: Seq, item: ListItem, edited: Edited | undefined): ListItem[] {
  if (edited === undefined) return [item];
  const { change, event, edit } = edited;
  if (change.at < seq) {
    if (edit.until > seq) return [item];
    return edit.kind === 'drop' ? [] : [{ ...item, value: edit.value }];
  }
  const version = change.versions.findLast((held) => held.seq < seq && held.seq > event.seq);
  if (version === undefined) return [item];
  const value = itemAfter(event, version, item.value);
  return value === undefined ? [] : [{ ...item, value }];
}

const contentOf = (item: ListItem | undefined): string => contentOfValue(item?.value);

function contentOfValue(value: JsonValue | undefined): string {
  return isObject(value) ? messageKey(value) : canonicalJson(value ?? null);
}

function editOf(change: Change, event: Event, item: JsonValue): ListEdit {
  return windowed(change, itemAfter(event, change.after, item));
}

/** Creates an edit for the lists recorded before its marker: later lists already have the changed message. */
function windowed(change: Change, value: JsonValue | undefined): ListEdit {
  const window = { after: previous(firstOf(change).seq), until: change.at };
  return value === undefined ? { kind: 'drop', ...window } : { kind: 'replace', value, ...window };
}
