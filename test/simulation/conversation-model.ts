// Conversations that are recorded, edited and forked, as a slow, obvious program: every message has an identity, a list is
// a row of identities, and an edit changes what an identity says. The real thing has only texts and linked lists.

/** One thing a history holds, in view order. */
export type Entry =
  | { readonly kind: 'said'; readonly seq: number; readonly agent: string; readonly message: number }
  | {
      readonly kind: 'called';
      readonly seq: number;
      readonly agent: string;
      readonly call: number;
      readonly list: readonly number[];
    }
  | {
      readonly kind: 'answered';
      readonly seq: number;
      readonly agent: string;
      readonly call: number;
      readonly message: number;
    };

/** A view: its entries, and the text of each message in it. A message without text was taken out. */
export interface Talk {
  readonly entries: readonly Entry[];
  readonly texts: ReadonlyMap<number, string>;
}

/** The talk of every point that was ever a head. */
export class TalkModel {
  readonly #talks = new Map<string, Map<number, Talk>>([['main', new Map([[0, { entries: [], texts: new Map() }]])]]);
  #messages = 0;

  get branches(): readonly string[] {
    return [...this.#talks.keys()];
  }

  points(branch: string): readonly (readonly [number, Talk])[] {
    return [...(this.#talks.get(branch) ?? [])];
  }

  head(branch: string): { readonly seq: number; readonly talk: Talk } {
    const [seq, talk] = this.points(branch).at(-1) as readonly [number, Talk];
    return { seq, talk };
  }

  newMessage(): number {
    return this.#messages++;
  }

  /** Notes what a branch is at its new head. */
  set(branch: string, seq: number, talk: Talk): void {
    const talks = this.#talks.get(branch) ?? new Map<number, Talk>();
    this.#talks.set(branch, talks.set(seq, talk));
  }
}

/** The messages of an agent: the last list it sent, and those since. */
export function before({ entries, texts }: Talk, agent: string): number[] {
  let shown: number[] = [];
  for (const entry of entries) {
    if (entry.agent !== agent) continue;
    if (entry.kind === 'called') shown = [...entry.list];
    else shown.push(entry.message);
  }
  return shown.filter((message) => texts.has(message));
}

/** The texts of messages, without those that were taken out. */
export function wordsOf(messages: readonly number[], texts: ReadonlyMap<number, string>): string[] {
  return messages.flatMap((message) => texts.get(message) ?? []);
}

/** The talk with one more entry and what its message says. */
export function adding(talk: Talk, entry: Entry, text?: string): Talk {
  const texts = new Map(talk.texts);
  if (entry.kind !== 'called') texts.set(entry.message, text ?? '');
  return { entries: [...talk.entries, entry], texts };
}

/** The talk in which a message says something else. */
export function saying(talk: Talk, message: number, text: string): Talk {
  return { entries: talk.entries, texts: new Map([...talk.texts, [message, text]]) };
}

/** The talk without an entry; a call goes with both its halves, and what was answered with the call. */
export function without(talk: Talk, gone: Entry): Talk {
  const isGone = (entry: Entry): boolean =>
    entry === gone || (gone.kind !== 'said' && entry.kind !== 'said' && entry.call === gone.call);
  const texts = new Map(talk.texts);
  for (const entry of talk.entries) if (isGone(entry) && entry.kind !== 'called') texts.delete(entry.message);
  return { entries: talk.entries.filter((entry) => !isGone(entry)), texts };
}
