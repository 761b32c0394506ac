/** Returns the properties of any value, as far as it is an object or a function; reading one may run a getter. */
export function propertiesOf(value: unknown): Readonly<Record<string, unknown>> {
  const hasProperties = (typeof value === 'object' && value !== null) || typeof value === 'function';
  return hasProperties ? (value as Readonly<Record<string, unknown>>) : {};
}

/** Reads a property of any value; returns undefined if there is none or reading it throws. */
export function propertyOf(value: unknown, name: string): unknown {
  try {
    return propertiesOf(value)[name];
  } catch {
    return undefined;
  }
}
