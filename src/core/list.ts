/** Returns a list as it is, and one item as a list of its own. */
export function listOf<Item>(value: Item | readonly Item[]): readonly Item[] {
  return Array.isArray(value) ? value : [value as Item];
}
