import type { CodingBook } from '../../core/coding/coding-book.ts';
import type { TokenCounter } from '../../core/coding/context.ts';
import { requestArgumentsIn } from '../../core/coding/prepared-request.ts';
import type { ProviderCount } from '../../core/coding/receipt.ts';
import { arrayAt, given, isObject, type JsonValue, objectAt, stringAt } from '../../core/json.ts';
import { previous } from '../../core/point.ts';
import { branchOf } from '../../core/view/segment.ts';
import type { Engine } from '../context/engine.ts';
import type { Place } from '../history/place.ts';
import { readPoints } from '../history/stored-events.ts';
import { bookAt, budgetAt, snapshotIn } from './coding-look.ts';

/**
 * Compares our count of a request with the provider's: for the last model call that followed a prepared request, if that
 * call carried the context. Null if there is no such call, or the provider gave no count.
 */
export async function providerCountAt(
  engine: Engine,
  place: Place,
  { sent, requests }: CodingBook,
  counter: TokenCounter,
): Promise<ProviderCount | null> {
  if (sent === null || sent.inputTokens === null) return null;
  const prepared = Object.values(requests).find(({ seq }) => seq === sent.request);
  if (prepared === undefined) return null;
  const captured = requestArgumentsIn(prepared.request);
  if ((captured.counter ?? counter.name) !== counter.name) return null;
  const [event] = await readPoints(engine, place.session, [
    { branch: branchOf(place.history, sent.call), seq: sent.call },
  ]);
  const texts = textsIn(objectAt(event?.data, 'request'));
  const before = { ...place, seq: previous(sent.request) };
  const budgetTokens = captured.budgetTokens ?? (await budgetAt(engine, before));
  const { context } = snapshotIn(engine, await bookAt(engine, before), {
    budgetTokens,
    counter,
    ...given({ currentGoal: captured.currentGoal }),
  });
  if (context.text === '' || !texts.some((text) => text.includes(context.text))) return null;
  const counted = texts.flatMap((text) => text.split(/(?<=\n)/)).reduce((sum, line) => sum + counter.count(line), 0);
  return { call: sent.call, counted, provider: sent.inputTokens, difference: sent.inputTokens - counted };
}

/** Returns the texts of a recorded model request: its system prompt and the texts of its messages. */
function textsIn(request: JsonValue | undefined): string[] {
  const system = stringAt(request, 'system');
  const messages = (arrayAt(request, 'messages') ?? []).flatMap((message) =>
    isObject(message) ? contentTexts(message['content']) : [],
  );
  return [...(system === undefined ? [] : [system]), ...messages];
}

function contentTexts(content: JsonValue | undefined): string[] {
  if (typeof content === 'string') return [content];
  return Array.isArray(content) ? content.flatMap((part: JsonValue) => stringAt(part, 'text') ?? []) : [];
}
