/** A list of the different strings of a column: an event stores the number of its string. Number 0 is no string. */
export class WordList {
  readonly #words: string[] = [''];
  readonly #numbers = new Map<string, number>([['', 0]]);

  /** Returns the number of a string, and adds the string if it is new. */
  numberOf(word: string | undefined): number {
    if (word === undefined || word === '') return 0;
    const known = this.#numbers.get(word);
    if (known !== undefined) return known;
    const number = this.#words.length;
    this.#words.push(word);
    this.#numbers.set(word, number);
    return number;
  }

  /** Returns the number of a string that is in the list. */
  find(word: string): number | undefined {
    return this.#numbers.get(word);
  }

  /** Returns the text of a number. */
  at(number: number): string {
    return this.#words[number] ?? '';
  }

  /** All strings, in the order in which they were added. */
  get words(): readonly string[] {
    return this.#words.slice(1);
  }
}
