import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { given, type JsonObject, type JsonValue } from '../../core/json.ts';
import type { ModelRequest } from '../../core/recording/recorder.ts';
import { type NeutralOptions, neutralMessage } from './neutral-message.ts';
import { plainJson, plainObject } from './plain-json.ts';

/** Returns the request to a model in the neutral form, without the signal and other options that are not part of it. */
export function modelRequest(params: LanguageModelV4CallOptions, options: NeutralOptions): ModelRequest {
  const { prompt, tools, headers, abortSignal: _signal, includeRawChunks: _raw, ...rest } = params;
  const system = plainSystem(prompt);
  const messages = (system === undefined ? prompt : prompt.slice(1)).map((message) => neutralMessage(message, options));
  const shown = shownHeaders(headers);
  const settings = { ...plainObject(rest), ...(Object.keys(shown).length > 0 ? { headers: shown } : {}) };
  return {
    messages,
    ...given({ system }),
    ...(tools === undefined || tools.length === 0 ? {} : { tools: tools.map(plainJson) }),
    ...(Object.keys(settings).length > 0 ? { settings } : {}),
  };
}

/** Returns the system prompt if it is one plain text; several, or one with options, stay in the list. */
function plainSystem(prompt: LanguageModelV4CallOptions['prompt']): string | undefined {
  const [first, second] = prompt;
  if (first?.role !== 'system' || second?.role === 'system' || first.providerOptions !== undefined) return undefined;
  return first.content;
}

/** Headers that may contain a secret or only name the client. */
const hiddenHeader = /auth|key|token(?!s)|secret|cookie|password|credential|session|signature|^user-agent$/i;

/** Returns headers as they are recorded, without those that may contain a secret. */
export function shownHeaders(headers: Readonly<Record<string, unknown>> | undefined): JsonObject {
  const shown: Record<string, JsonValue> = {};
  for (const [name, value] of Object.entries(headers ?? {})) {
    if (value !== undefined && !hiddenHeader.test(name)) shown[name] = plainJson(value);
  }
  return shown;
}
