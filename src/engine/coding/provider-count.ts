import { canonicalJson } from '../../core/canonical-json.ts';
import type { CodingBook, SentCall } from '../../core/coding/coding-book.ts';
import type { TokenCounter } from '../../core/coding/context.ts';
import { contentText } from '../../core/coding/note.ts';
import { requestArgumentsIn } from '../../core/coding/prepared-request.ts';
import type { ProviderCount } from '../../core/coding/receipt.ts';
import { arrayAt, given, type JsonValue, numberAt, objectAt, stringAt } from '../../core/json.ts';
import { type MessagePart, partsOf } from '../../core/message/message.ts';
import { previous, type Seq } from '../../core/point.ts';
import { branchOf } from '../../core/view/segment.ts';
import { callsNamed } from '../history/call-events.ts';
import type { Place } from '../history/place.ts';
import { eventInView, type Sight } from '../history/sight.ts';
import { readPoints } from '../history/stored-events.ts';
import { bookAt, budgetAt, checkedCounter, snapshotIn } from './coding-look.ts';

/** The view to compare in, the place of it, and the counter of the receipt. */
interface Counting {
  readonly sight: Sight;
  readonly place: Place;
  readonly counter: TokenCounter;
}

/**
 * Compares our count of a request with the provider's, for a model call that carried a prepared context: the first one
 * after the last such request. Returns null if no call carried one, or if the provider gave no count.
 */
export async function providerCountAt(
  sight: Sight,
  place: Place,
  { calls = [] }: CodingBook,
  counter: TokenCounter,
): Promise<ProviderCount | null> {
  const counting = { sight, place, counter };
  const requests = [...new Set(calls.map(({ request }) => request))];
  for (const request of requests.reverse()) {
    const made = calls.filter((held) => held.request === request);
    const context = await contextOfRequest(counting, request);
    for (const call of context === '' ? [] : made) {
      const count = await countOfCall(counting, call, context);
      if (count !== undefined) return count;
    }
  }
  return null;
}

/** Rebuilds the context of a prepared request; empty if it was counted with a different counter. */
async function contextOfRequest({ sight, place, counter }: Counting, request: Seq): Promise<string> {
  const { engine } = sight;
  const captured = requestArgumentsIn(objectAt((await eventInView(sight, request)).data, 'request'));
  if ((captured.counter ?? counter.name) !== counter.name) return '';
  const before = { ...place, seq: previous(request) };
  const budgetTokens = captured.budgetTokens ?? (await budgetAt(engine, before));
  const { context } = await snapshotIn({ engine, session: place.session }, await bookAt(engine, before), {
    budgetTokens,
    counter,
    ...given({ currentGoal: captured.currentGoal }),
  });
  return context.text;
}

/** Compares the counts of one call; undefined if it did not carry the context, or the provider gave no count. */
async function countOfCall(
  { sight, place, counter }: Counting,
  sent: SentCall,
  context: string,
): Promise<ProviderCount | undefined> {
  const { call } = sent;
  const provider = await inputTokensOf(sight, sent);
  if (provider === undefined) return undefined;
  const [event] = await readPoints(sight.engine, place.session, [{ branch: branchOf(place.history, call), seq: call }]);
  const texts = textsIn(objectAt(event?.data, 'request'));
  if (!texts.some((text) => text.includes(context))) return undefined;
  const { count } = checkedCounter(counter);
  const counted = texts.flatMap((text) => text.split(/(?<=\n)/)).reduce((sum, line) => sum + count(line), 0);
  return { call, counted, provider, difference: provider - counted };
}

/** Reads how many input tokens the provider counted for a call; undefined if it did not end or said nothing. */
async function inputTokensOf(sight: Sight, { call, id }: SentCall): Promise<number | undefined> {
  const calls = id === null ? [] : await callsNamed(sight, id);
  const ended = calls.find(({ started }) => started?.seq === call)?.ended;
  return numberAt(objectAt(ended?.data, 'usage'), 'inputTokens');
}

/** Returns everything that a recorded model request says: its system prompt, its messages, and its tools. */
function textsIn(request: JsonValue | undefined): string[] {
  const system = stringAt(request, 'system');
  const messages = (arrayAt(request, 'messages') ?? []).flatMap((message) => partsOf(message).flatMap(partTexts));
  const tools = (arrayAt(request, 'tools') ?? []).map((tool) => canonicalJson(tool));
  return [...(system === undefined ? [] : [system]), ...messages, ...tools];
}

/** Returns the texts of a part; it is unknown how many tokens a picture or a file takes. */
function partTexts(part: MessagePart): string[] {
  switch (part.type) {
    case 'tool-call':
      return [part.toolName, contentText(part.input) ?? ''];
    case 'tool-result':
      return [contentText(part.output) ?? ''];
    case 'image':
    case 'file':
      return [];
    default:
      return [contentText(part.text) ?? ''];
  }
}
