import { createHash } from 'node:crypto';
import { expect } from 'vitest';
import {
  conversation,
  type Event,
  type Projection,
  RepriseError,
  type Session,
  state,
  summary,
} from '../../src/index.ts';
import { all } from '../verbs/verb-case.ts';

/** One thing done to a session in which few texts are said again and again; numbers are scaled to what is there. */
export type ForgetCommand = readonly [
  kind:
    | 'say'
    | 'call'
    | 'state'
    | 'describe'
    | 'quote'
    | 'fork'
    | 'replace'
    | 'insert'
    | 'revert'
    | 'rewind'
    | 'redo'
    | 'erase',
  branch: number,
  seq: number,
  text: number,
];

const texts = Array.from({ length: 12 }, (_, index) => {
  const digest = createHash('sha256').update(String(index)).digest('hex');
  return `text-${digest.slice(0, 24)}`;
});

/** Does things to a session through several connections, and remembers what was to be forgotten. */
export class ForgettingRun {
  /** The texts of every event that was erased; they are not said again. */
  readonly forgotten = new Set<string>();
  readonly #sessions: readonly Session[];
  readonly #branches = ['main'];
  #count = 0;

  constructor(sessions: readonly Session[]) {
    this.#sessions = sessions;
  }

  async run([kind, at, pick, which]: ForgetCommand): Promise<void> {
    const session = this.#sessions[this.#count++ % this.#sessions.length] as Session;
    const branch = this.#branches[at % this.#branches.length] as string;
    const seq = pick % ((await session.branch(branch).locate()).head + 1);
    const text = texts[which % texts.length] as string;
    if (kind !== 'erase' && this.forgotten.has(text)) return;
    try {
      if (kind === 'erase') await this.#erase(session, branch, seq);
      else if (kind === 'fork') await this.#fork(session, branch, seq, text);
      else if (kind === 'call') await this.#call(session, branch, pick, text);
      else await this.#change(session, kind, { branch, seq }, text);
    } catch (error) {
      if (!(error instanceof RepriseError)) throw error;
    }
  }

  async #change(
    session: Session,
    kind: ForgetCommand[0],
    at: { readonly branch: string; readonly seq: number },
    text: string,
  ): Promise<void> {
    const { branch, seq } = at;
    const note = { type: 'note.added', data: { text: `quoting ${text} here` } };
    const message = { type: 'message.added', data: { message: { role: 'user', content: text } } };
    const long = { ...message, data: { message: { role: 'user', content: text + 'z'.repeat(600) } } };
    const metadata = { type: 'metadata.changed', data: { set: { [`m${seq % 3}`]: text } } };
    if (kind === 'say') await session.branch(branch).append(message);
    else if (kind === 'quote') await session.branch(branch).append(note);
    else if (kind === 'describe') await session.branch(branch).append(metadata);
    else if (kind === 'state') await session.branch(branch).edit({ kind, key: `k${seq % 3}`, value: { deep: [text] } });
    else if (kind === 'replace') await session.branch(branch).edit({ kind, seq, event: note }, { reason: text });
    else if (kind === 'insert') await session.branch(branch).edit({ kind, after: seq, event: long });
    else if (kind === 'revert') await session.revert(at, { reason: text });
    else if (kind === 'rewind') await session.rewind(at, { reason: text });
    else await session.branch(branch).redo({ reason: text });
  }

  async #fork(session: Session, branch: string, seq: number, text: string): Promise<void> {
    const name = `b${this.#count}`;
    await session.at({ branch, seq }).fork({ name, reason: `because ${text}`, metadata: { x: { about: text }, y: 1 } });
    this.#branches.push(name);
  }

  /** A model is sent what is there and one message more, also as a raw body; its answer quotes. */
  async #call(session: Session, branch: string, pick: number, text: string): Promise<void> {
    const { messages } = await session.branch(branch).fold(conversation);
    const sent = [...messages.flatMap(({ message }) => message ?? []), { role: 'user', content: text }];
    const call = { call: `c${this.#count}`, kind: 'model', name: 'm' };
    const request = { messages: sent, body: JSON.stringify({ sent, pad: 'x'.repeat(600) }) };
    await session.branch(branch).append({ type: 'call.started', data: { ...call, request } });
    const message = { role: 'assistant', content: `answer ${text} ${'y'.repeat((pick % 2) * 600)}` };
    await session.branch(branch).append({ type: 'call.ended', data: { ...call, outcome: 'ok', message } });
  }

  async #erase(session: Session, branch: string, seq: number): Promise<void> {
    const [event] = (await all(session.at({ branch, seq }).replay({ history: 'raw' }))).slice(-1);
    await session.erase({ branch, seq });
    const said = wordsOf(event as Event);
    for (const text of texts) if (said.includes(text)) this.forgotten.add(text);
  }

  /** Every branch is sound at its head and before it, and reads the same with snapshots and without. */
  async checkAll(): Promise<void> {
    const [session, other] = [this.#sessions[0] as Session, this.#sessions.at(-1) as Session];
    for (const branch of this.#branches) {
      const { head } = await session.branch(branch).locate();
      for (const seq of [Math.floor(head / 2), head]) {
        const at = { branch, seq };
        expect(await session.at(at).verify()).toMatchObject({ ok: true, events: seq });
        for (const projection of [conversation, state, summary] as readonly Projection<unknown, unknown>[])
          expect(await session.at(at).fold(projection)).toEqual(
            await other.at(at).fold(projection, { snapshots: false }),
          );
      }
    }
    const json = JSON.stringify(await session.toJSON());
    for (const text of this.forgotten) expect(json.includes(text), text).toBe(false);
  }
}

/** The content of an event itself: without quotes, which belong to others, and of a list only what it added. */
function wordsOf({ type, data }: Event): string {
  const { messages } = (data['request'] ?? {}) as { readonly messages?: readonly unknown[] };
  const said = JSON.stringify(type === 'call.started' ? messages?.at(-1) : data);
  return /quoting|answer|zzz/.test(said) ? '' : said;
}
