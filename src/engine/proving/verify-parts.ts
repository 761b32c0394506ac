import { isArray, isObject, type JsonValue } from '../../core/json.ts';
import { limits } from '../../core/limits.ts';
import { bodyText } from '../../core/parts/decode.ts';
import { dataDigestOf } from '../../core/parts/digest.ts';
import { asRef, type BodyDelta, type ListNode, mayHoldRefs, type PartInput } from '../../core/parts/parts.ts';
import { beginning, type Digest, type Seq } from '../../core/point.ts';
import type { StoredEvent } from '../../core/store/event-store.ts';
import type { Engine } from '../context/engine.ts';
import { readParts } from '../history/stored-events.ts';
import { Bad, isDamage } from './verify-damage.ts';
import type { Debt, Erasures } from './verify-erasures.ts';

type Kind = PartInput['kind'];

/** A part that is referred to, and the kinds it may have by the way it is referred to. */
interface Wanted {
  readonly digest: Digest;
  readonly kinds: readonly Kind[];
}

const kindsOf: Readonly<Record<NonNullable<ReturnType<typeof asRef>>['name'], readonly Kind[]>> = {
  $part: ['value'],
  $list: ['list'],
  $body: ['body', 'delta'],
  $sealed: ['sealed'],
};

/** Checks the parts that events refer to, each once. Reads references from stored JSON, since digests prove it. */
export class PartCheck {
  readonly #engine: Engine;
  readonly #session: string;
  readonly #erasures: Erasures;
  readonly #debts: Debt[];
  readonly #good = new Set<Digest>();

  constructor(engine: Engine, session: string, erasures: Erasures, debts: Debt[]) {
    this.#engine = engine;
    this.#session = session;
    this.#erasures = erasures;
    this.#debts = debts;
  }

  /** Throws a {@link Bad} for the first event with a part that does not match its digest. */
  async check(rows: readonly StoredEvent[]): Promise<void> {
    const asked = new Map<Digest, Wanted & { readonly seq: Seq }>();
    for (const { data, seq } of rows)
      if (data !== null && mayHoldRefs(data))
        for (const wanted of wantedIn(data, seq))
          if (!this.#good.has(wanted.digest) && !asked.has(wanted.digest)) asked.set(wanted.digest, { ...wanted, seq });
    const all = [...asked.values()];
    for (let from = 0; from < all.length; from += limits.partsAskedMax) {
      const some = all.slice(from, from + limits.partsAskedMax);
      const parts = await this.#read(some);
      for (const wanted of some) this.#follow(wanted, parts, wanted.seq);
    }
  }

  /** Reads the parts and all they refer to, except known good ones. Throws the first event with an unreadable part. */
  async #read(
    asked: readonly { readonly digest: Digest; readonly seq: Seq }[],
  ): Promise<ReadonlyMap<Digest, PartInput>> {
    try {
      return await this.#reachable(asked.map(({ digest }) => digest));
    } catch (error) {
      if (!isDamage(error)) throw error;
      const [only] = asked;
      if (only === undefined || asked.length === 1) throw new Bad(only?.seq ?? beginning, error.message);
      const parts = new Map<Digest, PartInput>();
      for (const one of asked) for (const [digest, part] of await this.#read([one])) parts.set(digest, part);
      return parts;
    }
  }

  /** Goes from part to part and stops at good ones, so that it reads a long list once for all that continue it. */
  async #reachable(digests: readonly Digest[]): Promise<Map<Digest, PartInput>> {
    const parts = new Map<Digest, PartInput>();
    for (let open = digests; open.length > 0; ) {
      const found = await readParts(this.#engine, this.#session, open, { depth: 'asked' });
      for (const [digest, part] of found) parts.set(digest, part);
      const held = [...found.values()];
      // The text of a delta needs all its bases, good or not.
      const bases = held.flatMap((part) => (part.kind === 'delta' ? part.refs : [])).filter((ref) => !parts.has(ref));
      for (const [digest, part] of await readParts(this.#engine, this.#session, bases)) parts.set(digest, part);
      const refs = held.flatMap((part) => part.refs.filter((ref) => !parts.has(ref) && !this.#good.has(ref)));
      open = [...new Set(refs)];
    }
    return parts;
  }

  #follow(first: Wanted, parts: ReadonlyMap<Digest, PartInput>, seq: Seq): void {
    const open = [first];
    for (let wanted = open.pop(); wanted !== undefined; wanted = open.pop()) {
      const { digest, kinds } = wanted;
      if (this.#good.has(digest)) continue;
      const part = parts.get(digest);
      if (part === undefined) this.#owe(digest, seq, `a part of seq ${seq} is missing, and no erasure accounts for it`);
      else {
        if (!kinds.includes(part.kind)) throw new Bad(seq, `a part of seq ${seq} is passed off as a different kind`);
        this.#checkText(part, parts, seq);
        open.push(...nextOf(part, seq));
      }
      this.#good.add(digest);
    }
  }

  #checkText(part: PartInput, parts: ReadonlyMap<Digest, PartInput>, seq: Seq): void {
    const changed = `a part of seq ${seq} is not what was recorded`;
    const digest = this.#digestOf(part, parts, changed, seq);
    if (digest === part.digest && part.damaged !== true) return;
    // A list with a hole has a new text; the erasure has its digest.
    if (part.damaged !== true || digest === undefined || this.#erasures.holes.get(part.digest)?.has(digest) !== true)
      throw new Bad(seq, changed);
    this.#owe(part.digest, seq, changed);
  }

  #digestOf(part: PartInput, parts: ReadonlyMap<Digest, PartInput>, changed: string, seq: Seq): Digest | undefined {
    try {
      const text = part.kind === 'delta' ? bodyText(part, (digest) => parts.get(digest)) : part.text;
      return text === undefined ? undefined : dataDigestOf(this.#engine.platform.sha256, part.salt ?? '', text);
    } catch {
      throw new Bad(seq, changed);
    }
  }

  #owe(digest: Digest, seq: Seq, otherwise: string): void {
    const markers = this.#erasures.parts.get(digest);
    if (markers === undefined) throw new Bad(seq, otherwise);
    this.#debts.push({ seq, markers });
  }
}

/** Returns the parts that a part refers to, by its own text. */
function nextOf(part: PartInput, seq: Seq): readonly Wanted[] {
  switch (part.kind) {
    case 'value':
    case 'body':
      return [];
    case 'delta':
      return [{ digest: (parsed(part.text, seq) as unknown as BodyDelta).base, kinds: ['body', 'delta'] }];
    case 'sealed':
      return mayHoldRefs(part.text) ? wantedIn(part.text, seq) : [];
    case 'list': {
      const { previous, items } = parsed(part.text, seq) as unknown as ListNode;
      const before: Wanted[] = previous === null ? [] : [{ digest: previous, kinds: ['list'] }];
      return [...before, ...collect(items as JsonValue, [])];
    }
  }
}

function wantedIn(text: string, seq: Seq): Wanted[] {
  return collect(parsed(text, seq), []);
}

function parsed(text: string, seq: Seq): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    throw new Bad(seq, `a part of seq ${seq} cannot be read`);
  }
}

function collect(value: JsonValue, found: Wanted[]): Wanted[] {
  const ref = asRef(value);
  if (ref !== undefined) found.push({ digest: ref.digest, kinds: kindsOf[ref.name] });
  else if (isArray(value)) for (const item of value) collect(item, found);
  else if (isObject(value)) for (const item of Object.values(value)) collect(item, found);
  return found;
}
