import { refText } from '../../core/ref.ts';
import type { EntriesAnswer, StateRow } from '../../reading/answers/state-entries.ts';
import type { Context } from '../context.ts';
import { JsonList } from '../terminal/json-list.ts';
import type { OpenState } from './state-options.ts';

/** Prints state values one by one: as text lines, as JSON lines, or as one JSON object. Returns how many there were. */
export async function printValues<Value extends StateRow>(
  { out }: Context,
  { ref, state }: OpenState,
  values: AsyncIterable<Value>,
  lineOf: (value: Value) => string,
): Promise<number> {
  const list = new JsonList<EntriesAnswer, 'entries'>(out, { ref: refText(ref), agent: state.agent }, 'entries');
  let count = 0;
  for await (const value of values) {
    if (out.json === 'object') await list.add(value);
    else await (out.json === undefined ? out.line(lineOf(value)) : out.value(value));
    count += 1;
  }
  if (out.json === 'object') await list.end({});
  return count;
}
