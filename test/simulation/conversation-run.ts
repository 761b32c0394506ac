import { expect } from 'vitest';
import { conversation, type Edit, type Event, type Reprise, type Session } from '../../src/index.ts';
import { all } from '../verbs/verb-case.ts';
import { adding, before, type Entry, saying, type Talk, TalkModel, without, wordsOf } from './conversation-model.ts';

/** One thing done to a recorded conversation; numbers are scaled to what is there when it happens. */
export type TalkCommand = readonly [
  kind: 'say' | 'call' | 'change' | 'drop' | 'fork' | 'rewind',
  branch: number,
  agent: number,
  pick: number,
  writer: number,
];

/** How a run talks: whether messages repeat each other's words, or lists leave their beginning out. */
export type Habit = 'repeating' | 'shortening';

const agents = ['ann', 'bob'] as const;

/** Does the same to sessions of several writers on one store and to the model, and holds one against the other. */
export class ConversationRun {
  readonly model = new TalkModel();
  readonly #writers: readonly Session[];
  readonly #habit: Habit;
  #count = 0;

  constructor(writers: readonly Session[], habit: Habit) {
    this.#writers = writers;
    this.#habit = habit;
  }

  async run([kind, at, who, pick, by]: TalkCommand): Promise<void> {
    const branch = this.model.branches[at % this.model.branches.length] as string;
    const agent = agents[who % agents.length] as string;
    const session = this.#writers[by % this.#writers.length] as Session;
    this.#count += 1;
    if (kind === 'say') await this.#say(session, branch, agent);
    else if (kind === 'call') await this.#call(session, branch, agent, pick);
    else if (kind === 'fork') await this.#fork(session, branch, pick);
    else if (kind === 'rewind') await this.#rewind(session, branch, pick);
    else await this.#edit(session, branch, pick, kind);
  }

  /** With few words, many messages say the same. */
  #words(): string {
    return this.#habit === 'repeating' ? `word ${this.#count % 3}` : `word ${this.#count}`;
  }

  async #say(session: Session, branch: string, agent: string): Promise<void> {
    const { talk } = this.model.head(branch);
    const content = this.#words();
    const data = { message: { role: 'user', content } };
    const [event] = await session.branch(branch).append({ type: 'message.added', agent, data });
    const seq = (event as Event).seq;
    this.model.set(branch, seq, adding(talk, { kind: 'said', seq, agent, message: this.model.newMessage() }, content));
  }

  /** The agent is sent what the view shows it, and answers. */
  async #call(session: Session, branch: string, agent: string, pick: number): Promise<void> {
    const { talk } = this.model.head(branch);
    const all = before(talk, agent);
    const list = this.#habit === 'shortening' && pick % 4 === 0 ? all.slice(Math.floor(all.length / 2)) : all;
    const sent = list.map((message) => ({ role: roleOf(talk, message), content: talk.texts.get(message) as string }));
    const call = { call: `c${this.#count}`, kind: 'model', name: 'm' };
    const [started] = await session
      .branch(branch)
      .append({ type: 'call.started', agent, data: { ...call, request: { messages: sent } } });
    const seq = (started as Event).seq;
    const called = adding(talk, { kind: 'called', seq, agent, call: this.#count, list });
    this.model.set(branch, seq, called);
    const content = this.#words();
    const [ended] = await session
      .branch(branch)
      .append({ type: 'call.ended', agent, data: { ...call, outcome: 'ok', message: { role: 'assistant', content } } });
    const end = (ended as Event).seq;
    const message = this.model.newMessage();
    const answered: Entry = { kind: 'answered', seq: end, agent, call: this.#count, message };
    this.model.set(branch, end, adding(called, answered, content));
  }

  /** Changes or takes out a message; a look at the same edit gives what making it gives. */
  async #edit(session: Session, branch: string, pick: number, kind: 'change' | 'drop'): Promise<void> {
    const { seq: head, talk } = this.model.head(branch);
    const spoken = talk.entries.filter((entry) => entry.kind !== 'called');
    const entry = spoken[pick % Math.max(1, spoken.length)];
    if (entry === undefined) return;
    const content = `${this.#words()} changed`;
    const message = { role: roleOf(talk, entry.message), content };
    const edit: Edit =
      kind === 'drop' ? { kind: 'drop', seq: entry.seq } : { kind: 'message', seq: entry.seq, message };
    const looked = await session.branch(branch).fold(conversation, { edits: [edit] });
    await session.branch(branch).edit(edit);
    const made = await session.branch(branch).fold(conversation);
    expect(JSON.stringify(looked)).toBe(JSON.stringify(made));
    this.model.set(branch, head + 1, kind === 'drop' ? without(talk, entry) : saying(talk, entry.message, content));
  }

  async #fork(session: Session, branch: string, pick: number): Promise<void> {
    const points = this.model.points(branch);
    const [seq, talk] = points[pick % points.length] as readonly [number, Talk];
    const { name, head } = await session.at({ branch, seq }).fork({ name: `b${this.#count}` });
    this.model.set(name, head, talk);
  }

  async #rewind(session: Session, branch: string, pick: number): Promise<void> {
    const points = this.model.points(branch);
    const [seq, talk] = points[pick % points.length] as readonly [number, Talk];
    const { marker } = await session.branch(branch).rewind(seq);
    this.model.set(branch, marker.seq, talk);
  }

  /** Every point that was ever a head says what it said, and every branch is sound. */
  async checkAll(reprise: Reprise): Promise<void> {
    const session = await reprise.session(this.#writers[0]?.id ?? '');
    for (const branch of this.model.branches) {
      for (const [seq, talk] of this.model.points(branch)) await this.#checkPoint(session, branch, seq, talk);
      expect(await session.branch(branch).verify()).toMatchObject({ ok: true });
    }
  }

  async #checkPoint(session: Session, branch: string, seq: number, talk: Talk): Promise<void> {
    const at = { branch, seq };
    const calls = await all(session.at(at).replay({ filter: { types: ['call.started'] } }));
    const sent = calls.map((event) =>
      (event.data['request'] as unknown as { messages: { content: string }[] }).messages.map(({ content }) => content),
    );
    const expected = talk.entries.flatMap((entry) =>
      entry.kind === 'called' ? [wordsOf(entry.list, talk.texts)] : [],
    );
    expect(sent, `lists at ${branch}@${seq}`).toEqual(expected);
    const seen = await session.at(at).fold(conversation);
    for (const lane of seen.lanes) {
      const said = lane.messages.map(({ message }) => message?.['content']);
      expect(said, `${lane.agent} at ${branch}@${seq}`).toEqual(wordsOf(before(talk, lane.agent ?? ''), talk.texts));
    }
    expect(await session.at(at).fold(conversation, { snapshots: false })).toEqual(seen);
  }
}

function roleOf({ entries }: Talk, message: number): string {
  return entries.some((entry) => entry.kind === 'answered' && entry.message === message) ? 'assistant' : 'user';
}
