import { isArray, isObject, type JsonObject } from '../../core/json.ts';
import { DataDecoder } from '../../core/parts/decode.ts';
import type { PartInput } from '../../core/parts/parts.ts';
import type { Digest } from '../../core/point.ts';
import { fillText } from '../../core/recording/kept-text.ts';
import { type Stretches, stretchesHeld } from '../../core/recording/stretches.ts';
import { isFirstOfUnit, keepsUnitOf } from '../../core/recording/unit-id.ts';
import type { StoredEvent } from '../../core/store/event-store.ts';
import { dataOf } from '../history/stored-events.ts';
import { type Content, valueHoldsContent } from './erase-content.ts';
import { innerJson } from './stored-forms.ts';

/** Yields the rows of each unit of a source together, its first event first, and every other row alone. */
export async function* byUnit(rows: AsyncIterable<StoredEvent>): AsyncGenerator<readonly StoredEvent[]> {
  let unit: StoredEvent[] = [];
  for await (const row of rows) {
    const [first] = unit;
    if (first !== undefined && first.branch === row.branch && keepsUnitOf(first.id, row.id)) unit.push(row);
    else {
      if (unit.length > 0) yield unit;
      unit = [row];
    }
  }
  if (unit.length > 0) yield unit;
}

/**
 * Searches the texts of units as they were. A text to erase that is JSON itself may have a string in it that is a hole in
 * the kept text of a unit, so that no piece contains the text, and an export would still put it together.
 */
export class FilledUnits {
  readonly #content: Content;
  readonly #decoder: DataDecoder;
  #stretches: Stretches = [];

  constructor(content: Content, parts: ReadonlyMap<Digest, PartInput>) {
    this.#content = { long: content.long.filter((text) => innerJson(text) !== undefined), short: new Set() };
    this.#decoder = new DataDecoder({ get: (digest) => parts.get(digest), isErased: () => true });
  }

  /** Returns true if the text of a unit has the content once its holes are filled. The rows are those of {@link byUnit}. */
  hold(rows: readonly StoredEvent[]): boolean {
    const [first] = rows;
    if (this.#content.long.length === 0 || first === undefined || first.data === null) return false;
    const { stretches, foreign } = dataOf(first, this.#decoder);
    if (isArray(stretches)) this.#stretches = stretchesHeld(stretches);
    const kept = isObject(foreign) ? foreign['text'] : undefined;
    if (!isFirstOfUnit(first.id) || !isArray(kept)) return false;
    const dataAt = (of: number): JsonObject | undefined => {
      const row = rows[of];
      return row === undefined || row.data === null ? undefined : dataOf(row, this.#decoder);
    };
    const text = fillText(kept, dataAt, this.#stretches);
    return text !== undefined && valueHoldsContent(this.#content, text);
  }
}
