import type { Event } from '../../../core/event/event.ts';
import type { JsonObject, JsonValue } from '../../../core/json.ts';
import { partsOf } from '../../../core/message/message.ts';
import type { ForeignWriter, WriterSource } from '../../../core/recording/foreign-format.ts';
import { type SaidItem, WrittenTalk } from '../pieces/written-talk.ts';

/** Opens a writer of lines of a rollout. A history that was not a rollout begins with the line that names it. */
export function codexWriter(source: WriterSource): ForeignWriter {
  const { session, first } = source;
  const talk = new WrittenTalk(source);
  let isBegun = first !== undefined;
  const line = (event: Event, type: string, payload: JsonObject): string =>
    JSON.stringify({ timestamp: event.time, type, payload });
  const begin = (event: Event): string[] => {
    if (isBegun) return [];
    isBegun = true;
    return [
      line(event, 'session_meta', {
        id: session,
        timestamp: event.time,
        cwd: '/',
        originator: 'reprise',
        cli_version: '0.140.0',
      }),
    ];
  };
  return {
    event: (event) => {
      const items = talk.of(event).flatMap((item) => itemsOf(item).map((each) => line(event, 'response_item', each)));
      return items.length === 0 ? [] : [...begin(event), ...items];
    },
  };
}

function itemsOf(item: SaidItem): JsonObject[] {
  if (item.kind === 'message') return messageItems(item.message);
  return [{ type: 'function_call_output', call_id: item.call, output: textIn(item.output) }];
}

function messageItems(message: JsonObject): JsonObject[] {
  const role = message['role'] === 'system' ? 'developer' : String(message['role']);
  const kind = role === 'assistant' ? 'output_text' : 'input_text';
  return partsOf(message).flatMap((part): JsonObject[] => {
    switch (part.type) {
      case 'text':
        return [{ type: 'message', role, content: [{ type: kind, text: part.text }] }];
      case 'reasoning':
        return [{ type: 'reasoning', summary: [{ type: 'summary_text', text: part.text }] }];
      case 'tool-call':
        return [
          {
            type: 'function_call',
            name: part.toolName,
            arguments: JSON.stringify(part.input),
            call_id: part.toolCallId,
          },
        ];
      default:
        return [];
    }
  });
}

const textIn = (output: JsonValue): string => (typeof output === 'string' ? output : JSON.stringify(output));
