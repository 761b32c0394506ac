/** Returns one of two contents of a folder, told apart in every file. */
export function folderContent(which: number): ReadonlyMap<string, string> {
  return new Map(
    Array.from({ length: 12 }, (_, index) => [`file-${index}.json`, `${which} `.repeat(3_000 + index)] as const),
  );
}
