import { given, isObject, type JsonObject, type JsonValue, stringAt } from '../core/json.ts';
import type { MessagePart, Role, ToolCallPart, ToolResultPart } from '../core/message/message.ts';
import { asText, inputOfObject, objectOfInput } from './json-text.ts';
import { mediaOf, mediaPart, sourceOf } from './media.ts';
import { withoutKeys } from './message-list.ts';
import { type ProviderFields, providerFields } from './provider-fields.ts';

/** The fields that Gemini's contents keep in addition to the neutral form. */
export const geminiFields: ProviderFields = providerFields('geminiContent');
const fields = geminiFields;

/** Gives the id of a function call, or of the call that a response answers. */
export interface CallIds {
  asked(id: string | undefined, name: string): string;
  answered(id: string | undefined, name: string): string;
}

/**
 * Numbers the calls of a conversation that have no id. The number is the call's place among all of them, so the same
 * call has the same id in the answer that asked for it and in every later request.
 */
export function callIds(before: number): CallIds {
  let count = before;
  const open: { readonly id: string; readonly name: string }[] = [];
  return {
    asked: (given, name) => {
      count++;
      const id = given ?? `call-${count}`;
      open.push({ id, name });
      return id;
    },
    answered: (given, name) => {
      const at = open.findIndex((call) => (given === undefined ? call.name === name : call.id === given));
      const [found] = at < 0 ? [] : open.splice(at, 1);
      return found?.id ?? given ?? name;
    },
  };
}

/** Returns a part of a content as a part of a message; one of an unknown kind is kept as it is. */
export function partOfContentPart(part: JsonObject, role: Role, ids: CallIds): MessagePart {
  const { text, thought, inlineData, fileData, functionCall, ...rest } = part;
  if (typeof text === 'string') {
    const isThought = thought === true;
    return fields.add(
      { type: isThought ? 'reasoning' : 'text', text },
      { ...(isThought ? {} : given({ thought })), ...rest },
    );
  }
  const own = { ...rest, ...given({ thought }) };
  if (isObject(functionCall) && functionCall['partialArgs'] === undefined) return callPart(functionCall, own, ids);
  if (isObject(inlineData) && typeof inlineData['data'] === 'string') {
    const { data, mimeType, ...more } = inlineData;
    return fields.add(mediaPart(data, stringAt({ mimeType: mimeType ?? null }, 'mimeType')), {
      ...own,
      ...heldMore(more),
    });
  }
  const uri = stringAt(fileData, 'fileUri');
  if (uri === undefined || !isObject(fileData)) return fields.kept(part, role);
  const more = withoutKeys(fileData, ['fileUri', 'mimeType']);
  return fields.add(mediaPart(uri, stringAt(fileData, 'mimeType')), { ...own, at: 'fileData', ...heldMore(more) });
}

const heldMore = (more: JsonObject): JsonObject => (Object.keys(more).length > 0 ? { more } : {});

function callPart(call: JsonObject, own: JsonObject, ids: CallIds): ToolCallPart {
  const { id, name, args, ...more } = call;
  const given = typeof id === 'string' ? id : undefined;
  const part: ToolCallPart = {
    type: 'tool-call',
    toolCallId: ids.asked(given, asText(name)),
    toolName: asText(name),
    input: inputOfObject(args),
  };
  return fields.add(part, {
    ...own,
    ...heldMore(more),
    id: given === undefined ? 'none' : undefined,
    args: args === undefined ? 'absent' : undefined,
  });
}

/** Returns the response of a function as a part. */
export function responsePart(part: JsonObject, ids: CallIds): ToolResultPart {
  const { functionResponse, ...own } = part;
  const { id, name, response, ...more } = isObject(functionResponse) ? functionResponse : {};
  const given = typeof id === 'string' ? id : undefined;
  const made: ToolResultPart = {
    type: 'tool-result',
    toolCallId: ids.answered(given, asText(name)),
    toolName: asText(name),
    output: response ?? {},
    ...(isFailure(response) ? { isError: true } : {}),
  };
  return fields.add(made, { ...own, ...heldMore(more), id: given === undefined ? 'none' : undefined });
}

const isFailure = (response: JsonValue | undefined): boolean =>
  isObject(response) && Object.hasOwn(response, 'error') && Object.keys(response).length === 1;

/** Returns a part of a message as parts of a content; none for what cannot be sent. */
export function contentPartOf(part: MessagePart): readonly JsonObject[] {
  const original = fields.original(part);
  if (original !== undefined) return original === null ? [] : [original];
  const { id, args, at, more, ...own } = fields.of(part);
  const rest = isObject(more) ? more : {};
  switch (part.type) {
    case 'text':
      return [{ text: part.text, ...own }];
    case 'reasoning':
      // Thoughts of a different provider would be read as this model's own.
      return isOwn(part) ? [{ text: part.text, thought: true, ...own }] : [];
    case 'tool-call': {
      const called = {
        name: part.toolName,
        ...(args === 'absent' ? {} : { args: objectOfInput(part.input) }),
        ...rest,
      };
      return [{ functionCall: id === 'none' ? called : { id: part.toolCallId, ...called }, ...own }];
    }
    case 'tool-result': {
      const answer = { name: part.toolName, response: responseOf(part), ...rest };
      return [{ functionResponse: id === 'none' ? answer : { id: part.toolCallId, ...answer }, ...own }];
    }
    case 'image':
    case 'file':
      return [{ ...mediaContent(part, at, rest), ...own }];
  }
}

/** A thought that this protocol read says nothing more than its text, unless it carries a signature. */
const isOwn = (part: MessagePart): boolean => Object.keys(fields.of(part)).length > 0 || !('providerOptions' in part);

function responseOf({ output, isError }: ToolResultPart): JsonObject {
  if (isObject(output)) return output;
  return isError === true ? { error: output } : { output };
}

function mediaContent(
  part: Extract<MessagePart, { type: 'image' | 'file' }>,
  at: JsonValue | undefined,
  more: JsonObject,
): JsonObject {
  const { data = '', mediaType } = mediaOf(part) ?? {};
  const source = sourceOf(data, mediaType);
  const isGiven = part.type === 'image' ? part.mediaType !== undefined : true;
  if (at === 'fileData' || source.kind === 'address')
    return { fileData: { fileUri: data, ...(isGiven ? { mimeType: mediaType ?? '' } : {}), ...more } };
  return { inlineData: { mimeType: source.mediaType, data: source.base64, ...more } };
}
