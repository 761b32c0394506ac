import { createClient, type Transport } from '@connectrpc/connect';
import { parseJson } from '../../../src/core/canonical-json.ts';
import type { JsonInput } from '../../../src/core/json.ts';
import { VerbService } from '../../../src/wire/generated/reprise/v1/verb_pb.ts';

/** Asks a server for a verb with one answer. */
export type AskVerb = <Answer>(verb: string, namespace: string, input: object, signal?: AbortSignal) => Promise<Answer>;

/** Returns the function that asks for verbs. */
export function verbsOf(transport: Transport): AskVerb {
  const verbs = createClient(VerbService, transport);
  return async <Answer>(verb: string, namespace: string, input: object, signal?: AbortSignal) => {
    const asked: JsonInput = { ...input, ...(namespace === '' ? {} : { namespace }) };
    const request = { verb, arguments: JSON.stringify(asked) };
    const { answer } = await verbs.call(request, signal === undefined ? {} : { signal });
    return parseJson(answer) as Answer;
  };
}
