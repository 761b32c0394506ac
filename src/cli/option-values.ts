/** The options of a command line as commander hands them over. */
export type OptionValues = Readonly<Record<string, unknown>>;

/** Returns the text of an option; undefined if it was not given. */
export function textOption(options: OptionValues, name: string): string | undefined {
  const value = options[name];
  return typeof value === 'string' ? value : undefined;
}

/** Returns the number of an option; undefined if it was not given. */
export function numberOption(options: OptionValues, name: string): number | undefined {
  const value = options[name];
  return typeof value === 'number' ? value : undefined;
}

/** Returns true if a flag was given. */
export function flagOption(options: OptionValues, name: string): boolean {
  return options[name] === true;
}

/** Returns every text of an option that may be given several times, in order. */
export function listOption(options: OptionValues, name: string): readonly string[] {
  const value: unknown = options[name];
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

/** Gathers the values of an option that may be given several times. */
export const collect = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];
