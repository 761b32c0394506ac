import { limits } from '../../core/limits.ts';
import type { Grant } from '../guarding/grant.ts';
import { leaving, sendLines, sendPiece } from '../http/answer-lines.ts';
import type { BodyBudget } from '../http/body-budget.ts';
import type { HttpRequest, HttpResponse } from '../http/listener.ts';
import { refused } from '../http/request-problem.ts';
import { sentBody, utf8Text } from '../http/sent-body.ts';
import { argumentsTooLong } from './verb-arguments.ts';
import { type Door, piecesOf } from './verb-door.ts';

/** The path under which a verb is asked for with plain JSON: `POST /v1/look.fold`. */
export const verbPath = '/v1/';

/** JSON, and the types that curl and fetch send by themselves. */
const takenTypes = /^(?:application\/json|application\/x-www-form-urlencoded|text\/plain)\b/;

/** The parts of a server that a verb over HTTP needs. */
interface VerbPageParts {
  readonly door: Door;
  readonly grant: Grant;
  readonly budget: BodyBudget;
}

/** Answers a verb with plain JSON: the answer itself, or each of many answers on a line. An empty line is a beat. */
export async function sendVerb(
  verb: string,
  request: HttpRequest,
  response: HttpResponse,
  { door, grant, budget }: VerbPageParts,
): Promise<void> {
  // To ignore them would be a wrong answer.
  if (request.url?.includes('?') === true) throw refused('', 'has parameters: send the arguments as its body');
  const type = request.headers['content-type'];
  if (type !== undefined && !takenTypes.test(type)) throw refused('', 'is not JSON: send it as application/json');
  const left = leaving(response);
  const bytesMax = limits.verbArgumentsBytesMax;
  const body = await sentBody(request, response, { budget, bytesMax, tooLong: () => argumentsTooLong(verb) });
  const answer = await door({ verb, arguments: utf8Text(body) }, { grant, left });
  if ('pages' in answer) return await sendLines(response, answer.pages, left);
  response.setHeader('content-type', 'application/json');
  for (const piece of piecesOf(answer.text)) {
    await sendPiece(response, piece, left);
    if (left.aborted) break;
  }
  response.end('\n');
}
