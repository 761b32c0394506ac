import type { JsonObject } from '../core/json.ts';
import { type MessagePart, partsOf } from '../core/message/message.ts';
import { bytesText } from './amount.ts';

/** Writes the content of a message on several lines: its text, tool calls and tool results. */
export function messageContent(message: JsonObject): string {
  const parts = partsOf(message);
  if (parts.length === 0) return message['content'] === undefined ? '' : JSON.stringify(message['content']);
  return parts.map(partText).join('\n');
}

function partText(part: MessagePart): string {
  switch (part.type) {
    case 'text':
      return String(part.text);
    case 'reasoning':
      return `(thinking) ${String(part.text)}`;
    case 'tool-call':
      return `→ ${part.toolName}(${JSON.stringify(part.input)})`;
    case 'tool-result':
      return `${part.toolName} ${part.isError === true ? 'failed with' : 'returned'} ${JSON.stringify(part.output)}`;
    case 'image':
      return `[image${mediaText(part.mediaType)}, ${dataText(part.image)}]`;
    case 'file':
      return `[file ${part.filename ?? ''}${mediaText(part.mediaType)}, ${dataText(part.data)}]`;
    default:
      // Print an unknown kind of part as it is.
      return JSON.stringify(part);
  }
}

const mediaText = (mediaType: string | undefined): string => (mediaType === undefined ? '' : ` ${mediaType}`);

/** Writes a URL as it is, and base64 data as its size. */
function dataText(data: string): string {
  return /^https?:/.test(data) ? data : bytesText(Math.floor(String(data).length * 0.75));
}
