import { hasCode, messageOf } from '../../core/error.ts';
import { given, type JsonValue } from '../../core/json.ts';
import type { ForeignReader, UnitMeaning } from '../../core/recording/foreign-format.ts';
import { parseUnit, type RawUnit } from './source-units.ts';

/** The meaning of a unit, and why it has none if that is worth a warning. */
export interface ReadUnit {
  readonly meaning: UnitMeaning;
  /** Whether its text is JSON. */
  readonly isJson: boolean;
  readonly reason?: string;
}

/** Returns the value of a later unit of the same file, 1 for the next; undefined in a source of lines. */
export type LaterUnits = (count: number) => JsonValue | undefined;

/** Asks the reader of a format what the units of one source mean. */
export class MeaningReader {
  readonly #format: string;
  readonly #reader: ForeignReader;

  constructor(format: string, reader: ForeignReader) {
    this.#format = format;
    this.#reader = reader;
  }

  /** Reads the meaning of a unit. A unit that has none is kept, with the reason if it is worth a warning. */
  read(file: string, { at, text, bytes, hint }: RawUnit, later: LaterUnits, base?: string): ReadUnit {
    const { value, fault } = text === undefined ? { value: undefined, fault: undefined } : parseUnit(text, hint);
    const isJson = value !== undefined;
    const none = (type: string, reason?: string) => ({ meaning: { type, drafts: [] }, isJson, ...given({ reason }) });
    if (text?.trim() === '') return none('blank');
    try {
      const meaning = this.#reader.unit({ file, at, text, ...given({ bytes, base }), value, later });
      if (meaning !== undefined) return { meaning, isJson };
    } catch (error) {
      if (hasCode(error, 'import.invalid')) throw error;
      return none('unread', `it could not be read: ${messageOf(error)}`);
    }
    if (text === undefined) return none('bytes', 'it is not UTF-8 text');
    return fault === undefined
      ? none('unknown', `${this.#format} has no such unit`)
      : none(fault === 'it is not JSON' ? 'text' : 'unread', fault);
  }
}
