import { RepriseError } from '../error.ts';
import { given, type JsonObject, numberAt, stringAt } from '../json.ts';
import { shownValue } from '../known-keys.ts';

/** The arguments of a prepared request: everything but the context that its payloads are made of. */
export interface RequestArguments {
  readonly model: string;
  readonly instructions?: string;
  /** The user's words. */
  readonly input: string;
  readonly currentGoal?: string;
  readonly budgetTokens?: number;
  /** The name of the counter that the context was counted with. */
  readonly counter?: string;
  /** The most tokens of the answer; Anthropic asks for it. */
  readonly maxOutputTokens?: number;
}

/** The body of a request to OpenAI's Responses, as `responses.create` of its client takes it. */
export type OpenAIPayload = {
  readonly model: string;
  readonly instructions?: string;
  /** The context and the user's words. The type of the client takes no list that is `readonly`. */
  readonly input: { readonly role: 'developer' | 'user'; readonly content: string }[];
  readonly max_output_tokens?: number;
};

/** The body of a request to Anthropic's Messages, as `messages.create` of its client takes it. */
export type AnthropicPayload = {
  readonly model: string;
  readonly max_tokens: number;
  /** The instructions and the context. */
  readonly system?: { readonly type: 'text'; readonly text: string }[];
  readonly messages: { readonly role: 'user'; readonly content: string }[];
};

/** The payloads of one request, for the two providers. */
export interface PreparedRequest {
  readonly openai: OpenAIPayload;
  readonly anthropic: AnthropicPayload;
}

/** Anthropic refuses a request that does not limit its answer. */
const outputTokensDefault = 4_096;

/** Refuses a limit of an answer that is not a whole number from 1. */
export function checkOutputTokens(tokens: number | undefined): number | undefined {
  if (tokens === undefined || (Number.isSafeInteger(tokens) && tokens > 0)) return tokens;
  throw new RepriseError('option.invalid', `Cannot build a request: its output is limited to ${shownValue(tokens)}`, {
    hint: 'Give "maxOutputTokens" as a whole number from 1, or leave it out.',
  });
}

/** Builds the payloads of a request: the instructions, the context, and the user's words. */
export function requestOf(context: string, request: RequestArguments): PreparedRequest {
  const { model, instructions = '', input, maxOutputTokens } = request;
  const shown = context === '' ? [] : [{ role: 'developer' as const, content: context }];
  const system = [instructions, context].filter((text) => text !== '').map((text) => ({ type: 'text' as const, text }));
  return {
    openai: {
      model,
      ...(instructions === '' ? {} : { instructions }),
      input: [...shown, { role: 'user', content: input }],
      ...given({ max_output_tokens: maxOutputTokens }),
    },
    anthropic: {
      model,
      max_tokens: maxOutputTokens ?? outputTokensDefault,
      ...(system.length === 0 ? {} : { system }),
      messages: [{ role: 'user', content: input }],
    },
  };
}

/** Reads the arguments that a `request.prepared` captured, as far as it has them. */
export function requestArgumentsIn(request: JsonObject | undefined): Partial<RequestArguments> {
  return given({
    model: stringAt(request, 'model'),
    instructions: stringAt(request, 'instructions'),
    input: stringAt(request, 'input'),
    currentGoal: stringAt(request, 'currentGoal'),
    budgetTokens: numberAt(request, 'budgetTokens'),
    counter: stringAt(request, 'counter'),
    maxOutputTokens: numberAt(request, 'maxOutputTokens'),
  });
}
