import {
  arrayAt,
  given,
  isArray,
  isObject,
  type JsonObject,
  type JsonValue,
  numberAt,
  objectAt,
  stringAt,
} from '../../../core/json.ts';

/** Returns the content of a message in the neutral form: text as it is, blocks as parts. Other blocks are kept as they are. */
export function neutralContent(content: JsonValue | undefined): string | JsonObject[] {
  if (typeof content === 'string') return content;
  return (isArray(content) ? content : []).flatMap((block) => {
    if (typeof block === 'string') return [{ type: 'text', text: block }];
    return isObject(block) ? [neutralBlock(block)] : [];
  });
}

function neutralBlock(block: JsonObject): JsonObject {
  switch (block['type']) {
    case 'thinking':
      return {
        type: 'reasoning',
        text: stringAt(block, 'thinking') ?? '',
        ...given({ providerOptions: signatureOf(block) }),
      };
    case 'tool_use':
      return {
        type: 'tool-call',
        toolCallId: stringAt(block, 'id') ?? '',
        toolName: stringAt(block, 'name') ?? 'unknown',
        input: block['input'] ?? {},
      };
    case 'image': {
      const source = objectAt(block, 'source');
      const image = stringAt(source, 'data') ?? stringAt(source, 'url') ?? '';
      return { type: 'image', image, ...given({ mediaType: stringAt(source, 'media_type') }) };
    }
    default:
      return block;
  }
}

function signatureOf(block: JsonObject): JsonObject | undefined {
  const signature = stringAt(block, 'signature');
  return signature === undefined ? undefined : { anthropic: { signature } };
}

/** Returns the blocks of a neutral message's content. */
export function anthropicBlocks(content: JsonValue | undefined): JsonValue {
  if (!isArray(content)) return content ?? '';
  return content.map((part) => (isObject(part) ? anthropicBlock(part) : part));
}

function anthropicBlock(part: JsonObject): JsonObject {
  switch (part['type']) {
    case 'reasoning': {
      const signature = stringAt(objectAt(objectAt(part, 'providerOptions'), 'anthropic'), 'signature');
      return { type: 'thinking', thinking: part['text'] ?? '', ...given({ signature }) };
    }
    case 'tool-call':
      return {
        type: 'tool_use',
        id: part['toolCallId'] ?? '',
        name: part['toolName'] ?? '',
        input: part['input'] ?? {},
      };
    case 'image':
      return {
        type: 'image',
        source: { type: 'base64', media_type: part['mediaType'] ?? 'image/png', data: part['image'] ?? '' },
      };
    default:
      return part;
  }
}

/** Returns the tokens of a response. Those read from and written to a cache count as input. */
export function anthropicUsage(usage: JsonObject | undefined): JsonObject | undefined {
  if (usage === undefined) return undefined;
  const [read, written] = [numberAt(usage, 'cache_read_input_tokens'), numberAt(usage, 'cache_creation_input_tokens')];
  const input = numberAt(usage, 'input_tokens');
  return given({
    inputTokens: input === undefined ? undefined : input + (read ?? 0) + (written ?? 0),
    outputTokens: numberAt(usage, 'output_tokens'),
    cachedInputTokens: read,
    cacheWriteTokens: written,
  });
}

/** Returns the text of a tool's result: a string as it is, text blocks joined, anything else as JSON. */
export function resultOutput(content: JsonValue | undefined): JsonValue {
  if (!isArray(content)) return content ?? null;
  const texts = content.map((block) =>
    isObject(block) && block['type'] === 'text' ? stringAt(block, 'text') : undefined,
  );
  return texts.length === 1 && texts[0] !== undefined ? texts[0] : content;
}

/** Returns the blocks of a message that have a type. */
export function blocksOf(message: JsonObject | undefined, type: string): readonly JsonObject[] {
  return (arrayAt(message, 'content') ?? []).filter(
    (block) => isObject(block) && block['type'] === type,
  ) as JsonObject[];
}
