import { canonicalJson } from '../../core/canonical-json.ts';
import { type BehaviourText, createBehaviourText, forgetIds } from '../../core/comparing/behaviour.ts';
import type { Event } from '../../core/event/event.ts';
import { isStructural } from '../../core/event/families/structural.ts';
import { isOperation } from '../../core/event/state-operation.ts';
import { given, isArray, isObject, type JsonValue, stringAt, valueAt } from '../../core/json.ts';
import { plainMessage } from '../../core/message/message.ts';
import type { Sha256 } from '../../core/parts/digest.ts';
import type { Seq } from '../../core/point.ts';

/** A message, without ids, and the tool calls it asks for or answers. */
interface BookMessage {
  readonly is: string;
  readonly asks: readonly string[];
  readonly answers: readonly string[];
}

/** Where a message was: the seq of an event, and the turn it happened in. */
interface MessageAt {
  readonly seq: Seq;
  readonly turn: string | undefined;
}

/** An event of a view, as far as repeating turns needs it. */
export interface BookEntry {
  readonly seq: Seq;
  readonly id: string;
  readonly type: string;
  readonly turn: number;
  readonly agent?: string;
  readonly cause?: string;
  /** Its behavior, without ids and clocks; undefined if it does not count as behavior. */
  readonly content?: string;
  readonly topic?: string;
  /** The agents whose state it wrote. */
  readonly stateOf: readonly string[];
  /** The messages it holds; undefined for a model call that recorded no list. */
  readonly messages: readonly BookMessage[] | undefined;
  readonly isErased: boolean;
  readonly event: Event;
}

/** A turn of an agent: when it began, whether it ended well, and what was done in it. */
export interface BookTurn {
  readonly begun: BookEntry;
  readonly did: readonly BookEntry[];
  isEnded: boolean;
}

/** The events of a branch that can be the reason why a turn runs, by what they are about. */
class ChangeIndex {
  readonly #claims = new Map<string | undefined, BookEntry[]>();
  readonly #ofAgent = new Map<string, BookEntry[]>();
  readonly #stateOf = new Map<string, BookEntry[]>();
  /** The changes of the rule by which a contradiction on a topic was settled here. */
  readonly #rules = new Map<string | undefined, BookEntry[]>();
  readonly messages: BookEntry[] = [];
  /** Whether one of them is of no agent: anybody may have read it. */
  hasCommonMessages = false;
  /** The turns that ran. */
  readonly ran: BookEntry[] = [];
  /** The repeated turns, and everything that they led to. */
  readonly #repeated = new Set<string>();
  #rule: BookEntry | undefined;

  /** Adds an event of the branch. `isAcross` says whether it ended a claim by one on a different topic. */
  add(entry: BookEntry, isAcross: boolean): void {
    const { id, type, cause, event } = entry;
    if (type === 'turn.started') {
      if (event.data['reused'] !== undefined) this.#repeated.add(id);
      else if (Array.isArray(event.data['because'])) this.ran.push(entry);
    }
    if (type === 'contradiction.settled' && this.#rule !== undefined) listIn(this.#rules, entry.topic).push(this.#rule);
    // A repeated turn changes nothing by itself.
    if (cause !== undefined && this.#repeated.has(cause)) {
      this.#repeated.add(id);
      return;
    }
    this.#place(entry, type === 'belief.committed' || isAcross);
  }

  /** Adds an event that a marker took out of the view; the entry has the id of the marker. */
  addTaken(entry: BookEntry): void {
    this.#place(entry, entry.type === 'belief.committed' || entry.type === 'belief.superseded');
  }

  #place(entry: BookEntry, isAboutClaims: boolean): void {
    const { type, agent, cause, content, event } = entry;
    if (isAboutClaims) listIn(this.#claims, entry.topic).push(entry);
    if (type === 'strategy.changed') this.#rule = entry;
    if (type === 'message.added' || event.replaces !== undefined) {
      this.messages.push(entry);
      if (agent === undefined) this.hasCommonMessages = true;
    }
    for (const owner of entry.stateOf) listIn(this.#stateOf, owner).push(entry);
    const isOutside = cause === undefined && content !== undefined;
    if (agent !== undefined && (type.startsWith('agent.') || isOutside)) listIn(this.#ofAgent, agent).push(entry);
  }

  /** Returns what changed the claims that stand on a topic: claims, and the rule that settled them. */
  claimsOn(topic: string | undefined): readonly BookEntry[] {
    return [...(this.#claims.get(topic) ?? []), ...(this.#rules.get(topic) ?? [])];
  }

  /** Returns the registrations of an agent, and its events outside its turns. */
  ofAgent(agent: string): readonly BookEntry[] {
    return this.#ofAgent.get(agent) ?? [];
  }

  stateOf(agent: string): readonly BookEntry[] {
    return this.#stateOf.get(agent) ?? [];
  }
}

function listIn<Key>(lists: Map<Key, BookEntry[]>, key: Key): BookEntry[] {
  const list = lists.get(key) ?? [];
  lists.set(key, list);
  return list;
}

/** The turns of a view, what each agent did, and the messages there are. */
export class TurnBook {
  readonly #sha256: Sha256;
  readonly #text: BehaviourText;
  readonly #own = new Map<string, BookEntry[]>();
  readonly #turns = new Map<string, BookTurn>();
  readonly #turnOf = new Map<string, BookTurn & { readonly did: BookEntry[] }>();
  readonly #acted = new Map<number, string[]>();
  readonly #withState = new Set<string>();
  readonly #ids = new Set<string>();
  /** The topic of each claim. */
  readonly #topics = new Map<string, string | undefined>();
  /** The first event that holds each message, and the first in no turn or a different one. */
  readonly #messages = new Map<string, { readonly first: MessageAt; other?: MessageAt }>();
  /** The events that came after the fork of the branch. */
  readonly mine: BookEntry[] = [];
  /** Those of them that can be reasons. */
  readonly changes: ChangeIndex = new ChangeIndex();
  readonly #since: number;

  constructor(sha256: Sha256, { since = 0 }: { readonly since?: Seq | 0 } = {}) {
    this.#sha256 = sha256;
    this.#since = since;
    this.#text = createBehaviourText(sha256);
  }

  /** Returns a recorded turn of an agent that ended well. */
  turn(agent: string, turn: number): BookTurn | undefined {
    const found = this.#turns.get(placeOf(agent, turn));
    return found?.isEnded === true ? found : undefined;
  }

  /** Returns the agents that began a turn, in order. */
  actedIn(turn: number): readonly string[] {
    return this.#acted.get(turn) ?? [];
  }

  /** Returns what an agent did up to a turn, before a seq. */
  ownOf(agent: string, { turn, before }: { readonly turn: number; readonly before: number }): readonly BookEntry[] {
    return (this.#own.get(agent) ?? []).filter((entry) => entry.turn <= turn && entry.seq < before);
  }

  /** Returns whether an agent ever wrote state. */
  hasState(agent: string): boolean {
    return this.#withState.has(agent);
  }

  /** Returns true if an event in the view has a message. */
  hasMessage(is: string): boolean {
    return this.#messages.has(is);
  }

  /** Returns true if an event before a seq, which is not of a turn, contains a message. */
  hadMessage(is: string, { before, notIn }: { readonly before: Seq; readonly notIn: string }): boolean {
    const { first, other } = this.#messages.get(is) ?? {};
    const found = first?.turn === notIn ? other : first;
    return found !== undefined && found.seq < before;
  }

  #noteMessage(is: string, { id, seq }: BookEntry): void {
    const at = { seq, turn: this.#turnOf.get(id)?.begun.id };
    const known = this.#messages.get(is);
    if (known === undefined) this.#messages.set(is, { first: at });
    else if (known.other === undefined && known.first.turn !== at.turn) known.other = at;
  }

  /** Notes an event that a marker took out of the view: the marker can be the reason why a turn runs. */
  noteTaken(marker: Event, event: Event): void {
    const { cause: _cause, ...entry } = this.entryOf(event);
    this.changes.addTaken({ ...entry, id: marker.id });
  }

  /** Returns whether an event of this id is in the view, after the fork of the branch. */
  has(id: string): boolean {
    return this.#ids.has(id);
  }

  /** Adds the next event of the view. */
  add(event: Event): void {
    if (isStructural(event.type)) return;
    const entry = this.entryOf(event);
    if (event.seq > this.#since) {
      this.mine.push(entry);
      this.#ids.add(entry.id);
      this.changes.add(entry, this.#isAcross(entry));
    }
    if (entry.type === 'belief.committed') this.#topics.set(entry.id, entry.topic);
    this.#noteTurn(entry);
    for (const { is } of entry.messages ?? []) this.#noteMessage(is, entry);
    for (const agent of entry.stateOf) this.#withState.add(agent);
    const { agent, content } = entry;
    if (agent === undefined || content === undefined || aboutFleet.test(entry.type)) return;
    const own = this.#own.get(agent) ?? [];
    own.push(entry);
    this.#own.set(agent, own);
  }

  /** Returns true if an event ended a claim by one on a different topic: by name, since claims on different topics never meet. */
  #isAcross({ type, topic, event }: BookEntry): boolean {
    if (type !== 'belief.superseded') return false;
    const by = stringAt(event.data, 'by');
    return by === undefined || this.#topics.get(by) !== topic;
  }

  #noteTurn(entry: BookEntry): void {
    const { type, agent, turn, cause, id } = entry;
    if (type === 'turn.started' && agent !== undefined) {
      const begun = { begun: entry, did: [], isEnded: false };
      this.#turnOf.set(id, begun);
      this.#turns.set(placeOf(agent, turn), begun);
      this.#acted.set(turn, [...new Set([...(this.#acted.get(turn) ?? []), agent])]);
      return;
    }
    const within = cause === undefined ? undefined : this.#turnOf.get(cause);
    if (within === undefined) return;
    if (type === 'turn.ended') {
      if (within.begun.id === cause && entry.event.data['outcome'] === 'ok') within.isEnded = true;
      return;
    }
    within.did.push(entry);
    this.#turnOf.set(id, within);
  }

  /** Returns an event as the book has it. */
  entryOf(event: Event): BookEntry {
    const { seq, id, type, turn, agent, cause, data } = event;
    const content = this.#text(event, forgetIds);
    const topic = stringAt(data, 'topic');
    return {
      seq,
      id,
      type,
      turn,
      ...given({ agent, cause }),
      ...(content === undefined ? {} : { content: this.#sha256(content) }),
      ...given({ topic }),
      stateOf: stateAgents(event),
      messages: messagesIn(event),
      isErased: event.erased === true,
      event,
    };
  }
}

const placeOf = (agent: string, turn: number): string => `${turn}\n${agent}`;

/** The consequences of claims, and who an agent is, are compared by themselves. */
const aboutFleet = /^(agent|turn|run)\.|^belief\.superseded$|^contradiction\./;

function stateAgents({ type, data }: Event): string[] {
  if (type !== 'state.committed') return [];
  const operations = data['operations'];
  if (!Array.isArray(operations)) return [];
  return [...new Set(operations.filter(isOperation).map(({ agent }) => String(agent)))];
}

/** Returns the messages that an event holds; undefined for a model call that recorded no list. */
function messagesIn({ type, data }: Event): readonly BookMessage[] | undefined {
  if (type === 'message.added' || type === 'call.ended') return messagesOf(data['message']);
  if (type === 'run.started') return messagesOf(data['messages']);
  if (type !== 'call.started') return [];
  const list = valueAt(data, ['request', 'messages']);
  if (Array.isArray(list)) return messagesOf(list);
  return data['kind'] === 'model' ? undefined : [];
}

function messagesOf(value: JsonValue | undefined): BookMessage[] {
  const list: readonly JsonValue[] = isArray(value) ? value : value === undefined ? [] : [value];
  return list.filter(isObject).map((message) => {
    const ids: string[] = [];
    const is = canonicalJson(plainMessage(message, (id) => (ids.push(id), null)));
    const isAnswer = message['role'] === 'tool';
    return { is, asks: isAnswer ? [] : ids, answers: isAnswer ? ids : [] };
  });
}
