import type OpenAI from 'openai';
import { given, stringAt } from '../../core/json.ts';
import { checkKeys, type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import type { Recorder } from '../../core/recording/recorder.ts';
import { fromChatCompletions } from '../../protocols/chat-completions.ts';
import { fromResponses } from '../../protocols/responses.ts';
import { completeRequest, rememberHistory } from '../clients/named-history.ts';
import { type ClientKind, posts, recordClient } from '../clients/recorded-client.ts';

/** How a client is recorded. */
export interface RecordOpenAIOptions {
  /** The name of the agent in the log. */
  readonly agent?: string;
}

const recordKeys: KnownKeys = optionKeys<RecordOpenAIOptions>('record the client', { agent: true }, 'a recording');

/** The package of the client. */
export const packageName = 'openai';

const kind: ClientKind = {
  packageName,
  title: 'an OpenAI client',
  asked(request, { recorder }) {
    const body = request.body as object;
    if (posts(request, /^\/?chat\/completions$/))
      return { protocol: { name: 'openai-chat', from: fromChatCompletions }, body };
    if (!posts(request, /^\/?responses$/)) return undefined;
    return {
      protocol: { name: 'openai-responses', from: fromResponses },
      body,
      complete: (asked) => {
        const previous = stringAt(asked.settings, 'previous_response_id');
        return completeRequest(recorder, asked, { previous, keepsSettings: false });
      },
      onAnswer: (asked, answer) => rememberHistory(recorder, asked, answer),
    };
  },
};

/**
 * Returns the same client, recorded: every chat completion and every response, streamed or not, even those that a
 * helper asks for (`stream`, `parse`, `runTools`), with what was really sent, what was really said, tokens, attempts
 * and errors. The given client is left as it is.
 *
 * @example
 * ```ts
 * await using recorder = await session.record({ agent: 'support' });
 * const recorded = recordOpenAI(client, recorder);
 * await recorded.chat.completions.create({ model: 'gpt-5', messages: [{ role: 'user', content: 'Hello?' }] });
 * ```
 */
export function recordOpenAI<Client extends OpenAI>(
  client: Client,
  recorder: Recorder,
  options: RecordOpenAIOptions = {},
): Client {
  checkKeys(options, recordKeys);
  return recordClient(client, { recorder, ...given({ agent: options.agent }) }, kind);
}
