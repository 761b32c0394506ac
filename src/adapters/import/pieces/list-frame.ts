import type { UnitFrame } from '../../../core/recording/foreign-format.ts';

/** Returns the text around the units of a JSON document, by the document with an empty list and the place of that list. */
export function listFrame(document: string, at: number): UnitFrame {
  return {
    head: `${document.slice(0, at)}[\n    `,
    between: ',\n    ',
    tail: `\n  ]${document.slice(at + 2)}`,
    empty: document,
  };
}
