/** Returns the item at an index that the caller knows to be within bounds. Read typed arrays directly: it is quicker. */
export function itemAt<Item>(items: readonly Item[], index: number): Item {
  return items[index] as Item;
}
