import { refText } from '../../core/ref.ts';
import type { StateValue } from '../../engine/state/entry.ts';
import type { Context } from '../context.ts';
import type { FoundState } from './state-options.ts';

/** Prints values one by one: as lines for a person, one object a line, or one object for everything. */
export async function printValues<Value extends StateValue>(
  { out }: Context,
  { ref, state }: FoundState,
  values: AsyncIterable<Value>,
  lineOf: (value: Value) => string,
): Promise<number> {
  const isObject = out.json === 'object';
  let count = 0;
  if (isObject)
    await out.write(`${JSON.stringify({ ref: refText(ref), agent: state.agent }).slice(0, -1)},"entries":[`);
  for await (const value of values) {
    if (isObject) await out.write(`${count === 0 ? '' : ','}${JSON.stringify(value)}`);
    else await (out.json === undefined ? out.line(lineOf(value)) : out.value(value));
    count += 1;
  }
  if (isObject) await out.line(']}');
  return count;
}
