import type { HandlerContext, ServiceImpl } from '@connectrpc/connect';
import type { VerbService } from '../../wire/generated/reprise/v1/verb_pb.ts';
import type { Grant } from '../guarding/grant.ts';
import { type AskedVerb, type Door, inOneMessage, piecesOf } from './verb-door.ts';

/** The parts of a server that the calls of the door need. */
interface VerbServiceParts {
  readonly door: Door;
  readonly grantOf: (context: HandlerContext) => Grant;
  /** Gets the verb of a call before it runs, for the log and the figures. */
  readonly onVerb: (context: HandlerContext, verb: string) => void;
}

/** Returns the two calls by which a program asks for any verb. */
export function verbService({ door, grantOf, onVerb }: VerbServiceParts): ServiceImpl<typeof VerbService> {
  const asked = async ({ verb, arguments: text }: AskedVerb, context: HandlerContext) => {
    onVerb(context, verb);
    return await door({ verb, arguments: text }, { grant: grantOf(context), left: context.signal });
  };
  return {
    async call(request, context) {
      return { answer: inOneMessage(request, await asked(request, context)) };
    },
    async *stream(request, context) {
      const answer = await asked(request, context);
      if ('pages' in answer) for await (const answers of answer.pages) yield { answers: [...answers] };
      else for (const piece of piecesOf(answer.text)) yield { piece };
    },
  };
}
