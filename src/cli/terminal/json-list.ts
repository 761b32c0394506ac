import type { Output } from './output.ts';

type ItemOf<List> = List extends readonly (infer Item)[] ? Item : never;

/**
 * Writes one JSON object that contains a list, item by item, so that it may be larger than memory. Fields come before
 * the list or after it.
 */
export class JsonList<
  Answer extends object,
  Key extends keyof Answer & string,
  First extends keyof Answer = keyof Answer,
> {
  readonly #out: Output;
  readonly #head: string;
  #count = 0;

  constructor(out: Output, first: Pick<Answer, Exclude<First, Key>>, key: Key) {
    this.#out = out;
    this.#head = `${out.jsonOf(first).slice(0, -1)},${out.jsonOf(key)}:[`;
  }

  /** Writes one item. */
  async add(item: ItemOf<Answer[Key]>): Promise<void> {
    await this.#out.write(`${this.#count === 0 ? this.#head : ','}${this.#out.jsonOf(item)}`);
    this.#count += 1;
  }

  /** Writes the end of the list and the rest of the fields. */
  async end(rest: Omit<Answer, First | Key>): Promise<void> {
    if (this.#count === 0) await this.#out.write(this.#head);
    const fields = this.#out.jsonOf(rest).slice(1, -1);
    await this.#out.line(`]${fields === '' ? '' : `,${fields}`}}`);
  }
}
