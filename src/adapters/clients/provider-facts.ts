import { isObject, type JsonObject, type JsonValue } from '../../core/json.ts';
import { recordable } from '../../core/recording/recordable.ts';
import type { ProtocolAnswer, ProtocolName } from '../../protocols/protocol.ts';

/** A longer text repeats the request, or is of no use to anyone. */
const textUnitsMax = 200;

/** Fields next to the answer that are kept whole. */
const keptKeys: ReadonlySet<string> = new Set([
  'usage',
  'usageMetadata',
  'choice',
  'choices',
  'candidate',
  'candidates',
  'incomplete_details',
  'promptFeedback',
]);

/** Headers that carry the provider's own id of a request. */
const requestIdHeaders = ['x-request-id', 'request-id', 'apim-request-id', 'x-goog-request-id'];

/** Returns what is recorded of an answer in addition to the message: ids, raw counts and small facts, not the echo of the request. */
export function providerFacts(protocol: ProtocolName, { provider }: ProtocolAnswer, response: Response): JsonObject {
  const kept = Object.entries(provider).filter(([key, value]) => keptKeys.has(key) || isSmall(value));
  const requestId = requestIdHeaders.map((name) => response.headers.get(name)).find((value) => value !== null);
  return {
    name: protocol,
    ...Object.fromEntries(kept),
    ...(requestId === undefined || requestId === null ? {} : { requestId }),
  };
}

const isSmall = (value: JsonValue): boolean =>
  typeof value === 'number' ||
  typeof value === 'boolean' ||
  (typeof value === 'string' && value.length <= textUnitsMax);

/** Units of a refusal that are kept; some providers answer with whole pages. */
const bodyUnitsMax = 10_000;

/** Returns what is recorded of a call that was refused or never answered. */
export function failureFacts(protocol: ProtocolName, error: unknown): JsonObject {
  if (typeof error !== 'object' || error === null) return { name: protocol };
  const { status, requestID: id, error: body } = error as Readonly<Record<string, unknown>>;
  return {
    name: protocol,
    ...(typeof status === 'number' ? { status } : {}),
    ...(typeof id === 'string' ? { requestId: id } : {}),
    ...(isObject(body) ? bounded(body) : {}),
  };
}

function bounded(body: object): JsonObject {
  try {
    const { value, units } = recordable(body);
    return units <= bodyUnitsMax && value !== undefined ? { body: value } : {};
  } catch {
    return {};
  }
}
