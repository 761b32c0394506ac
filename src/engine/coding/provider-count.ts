import type { CodingBook } from '../../core/coding/coding-book.ts';
import type { TokenCounter } from '../../core/coding/context.ts';
import { requestArgumentsIn } from '../../core/coding/prepared-request.ts';
import type { ProviderCount } from '../../core/coding/receipt.ts';
import { plainKey } from '../../core/event/keys.ts';
import { arrayAt, given, isObject, type JsonValue, numberAt, objectAt, stringAt } from '../../core/json.ts';
import { previous } from '../../core/point.ts';
import { branchOf } from '../../core/view/segment.ts';
import { eventInView, eventsOfKey, type Look } from '../history/look.ts';
import type { Place } from '../history/place.ts';
import { readPoints } from '../history/stored-events.ts';
import { bookAt, budgetAt, checkedCounter, snapshotIn } from './coding-look.ts';

/**
 * Compares our count of a request with the provider's: for the last model call that followed a prepared request, if that
 * call carried the context. Null if there is no such call, or the provider gave no count.
 */
export async function providerCountAt(
  look: Look,
  place: Place,
  { sent }: CodingBook,
  counter: TokenCounter,
): Promise<ProviderCount | null> {
  if (sent === null) return null;
  const provider = await inputTokensOf(look, sent.id);
  if (provider === undefined) return null;
  const { engine } = look;
  const captured = requestArgumentsIn(objectAt((await eventInView(look, sent.request)).data, 'request'));
  if ((captured.counter ?? counter.name) !== counter.name) return null;
  const [event] = await readPoints(engine, place.session, [
    { branch: branchOf(place.history, sent.call), seq: sent.call },
  ]);
  const texts = textsIn(objectAt(event?.data, 'request'));
  const before = { ...place, seq: previous(sent.request) };
  const budgetTokens = captured.budgetTokens ?? (await budgetAt(engine, before));
  const { context } = await snapshotIn({ engine, session: place.session }, await bookAt(engine, before), {
    budgetTokens,
    counter,
    ...given({ currentGoal: captured.currentGoal }),
  });
  if (context.text === '' || !texts.some((text) => text.includes(context.text))) return null;
  const { count } = checkedCounter(counter);
  const counted = texts.flatMap((text) => text.split(/(?<=\n)/)).reduce((sum, line) => sum + count(line), 0);
  return { call: sent.call, counted, provider, difference: provider - counted };
}

/** Reads how many input tokens the provider counted for a call; undefined if it did not end or said nothing. */
async function inputTokensOf(look: Look, call: string | null): Promise<number | undefined> {
  if (call === null) return undefined;
  for await (const { type, data } of eventsOfKey(look, plainKey('call', call)))
    if (type === 'call.ended') return numberAt(objectAt(data, 'usage'), 'inputTokens');
  return undefined;
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
