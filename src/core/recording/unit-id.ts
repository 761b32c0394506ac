/** The digits of the id of an event that was read from a unit of a foreign source: the place of the unit, then a hash. */
const [placeDigits, hashDigits] = [8, 16];

/** Returns the id of a unit's first event. Ids rise with the places of their units. */
export function unitId(at: number, hash: string): string {
  return at.toString(16).padStart(placeDigits, '0') + hash.slice(0, hashDigits);
}

// Earlier builds had 32 digits, all of them of the hash.
const digits = '[0-9a-f]{24}(?:[0-9a-f]{8})?';
const first = new RegExp(`^${digits}$`);
const any = new RegExp(`^${digits}(?:-\\d+)?$`);
const made = new RegExp(`^${digits}(?:-[a-z]?\\d*)?$`);

/** Returns true if an id is that of the first event of a unit, which keeps the text of the unit. */
export const isFirstOfUnit = (id: string): boolean => first.test(id);

/** Returns true if an id is that of an event that was read from a unit. */
export const isOfUnit = (id: string): boolean => any.test(id);

/** Returns true if an import made an event of this id, markers included. */
export const isMadeByImport = (id: string): boolean => made.test(id);

/** Returns true if the event of one id keeps the text of the unit that the event of a different id was read from. */
export const keepsUnitOf = (id: string, other: string): boolean =>
  isFirstOfUnit(id) && other.startsWith(`${id}-`) && isOfUnit(other);
