import type Anthropic from '@anthropic-ai/sdk';
import type { BaseAnthropic } from '@anthropic-ai/sdk/client';
import { given, stringAt } from '../../core/json.ts';
import { checkKeys, type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import type { Recorder } from '../../core/recording/recorder.ts';
import { fromAnthropicMessages } from '../../protocols/anthropic-messages.ts';
import { completeRequest, rememberHistory } from '../clients/named-history.ts';
import { type ClientKind, posts, recordClient } from '../clients/recorded-client.ts';

/** How a client is recorded. */
export interface RecordAnthropicOptions {
  /** The name of the agent in the log. */
  readonly agent?: string;
}

const recordKeys: KnownKeys = optionKeys<RecordAnthropicOptions>('record the client', { agent: true }, 'a recording');

/** The package of the client. */
export const packageName = '@anthropic-ai/sdk';

const kind: ClientKind = {
  packageName,
  title: 'an Anthropic client',
  asked(request, { recorder }) {
    if (!posts(request, /^\/?(v1\/)?messages(\?|$)/)) return undefined;
    return {
      protocol: { name: 'anthropic-messages', from: fromAnthropicMessages },
      body: request.body as object,
      // In a thread, which the tool runner uses, only what is new is sent.
      complete: (asked) => {
        const previous = stringAt(asked.settings?.['thread'], 'previous_message_id');
        return completeRequest(recorder, asked, { previous, keepsSettings: true });
      },
      onAnswer: (asked, answer) => rememberHistory(recorder, asked, answer),
    };
  },
};

/**
 * Returns the same client, recorded: every message, streamed or not, even those that a helper asks for (`stream`,
 * `parse`,
 * `toolRunner`), with what was really sent, what was really said, tokens, attempts and errors. The given client is left
 * as it is.
 *
 * @example
 * ```ts
 * await using recorder = await session.record({ agent: 'support' });
 * const recorded = recordAnthropic(client, recorder);
 * const messages = [{ role: 'user' as const, content: 'Hello?' }];
 * await recorded.messages.create({ model: 'claude-sonnet-5', max_tokens: 1024, messages });
 * ```
 */
export function recordAnthropic<Client extends Anthropic | BaseAnthropic>(
  client: Client,
  recorder: Recorder,
  options: RecordAnthropicOptions = {},
): Client {
  checkKeys(options, recordKeys);
  return recordClient(client, { recorder, ...given({ agent: options.agent }) }, kind);
}
