/** A list of the different texts of a column: an event stores the number of its text. Number 0 is no text. */
export class WordList {
  readonly #words: string[] = [''];
  readonly #numbers = new Map<string, number>([['', 0]]);

  /** Returns the number of a text, and adds the text if it is new. */
  numberOf(word: string | undefined): number {
    if (word === undefined || word === '') return 0;
    const known = this.#numbers.get(word);
    if (known !== undefined) return known;
    const number = this.#words.length;
    this.#words.push(word);
    this.#numbers.set(word, number);
    return number;
  }

  /** Returns the number of a text that is in the list. */
  find(word: string): number | undefined {
    return this.#numbers.get(word);
  }

  /** Returns the text of a number. */
  at(number: number): string {
    return this.#words[number] ?? '';
  }

  /** All texts, in the order in which they were added. */
  get words(): readonly string[] {
    return this.#words.slice(1);
  }
}
