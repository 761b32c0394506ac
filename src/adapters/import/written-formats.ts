import { RepriseError } from '../../core/error.ts';
import type { JsonObject, JsonValue } from '../../core/json.ts';
import { partsOf } from '../../core/message/message.ts';
import {
  defineFormat,
  type ForeignFormat,
  type ForeignWriter,
  type WriterSource,
} from '../../core/recording/foreign-format.ts';
import { type SaidItem, WrittenTalk } from './pieces/written-talk.ts';

/** Returns a format that can only be written. */
function written(name: string, about: string, write: (source: WriterSource) => ForeignWriter): ForeignFormat {
  return defineFormat({
    name,
    about,
    detect: () => false,
    cut: () => ({ kind: 'whole' }),
    open: () => {
      throw new RepriseError('import.invalid', `Cannot import: "${name}" can only be written`, {
        hint: 'Use `reprise copy` to move a history between stores.',
      });
    },
    write,
    writeOnly: true,
  });
}

/** The events of a view as one JSON document. It leaves out nothing of the view; events outside it are in the log. */
export const jsonFormat: ForeignFormat = written('json', 'the events of a view as one JSON document', () => ({
  event: (event) => [JSON.stringify(event, null, 2).replace(/\n/g, '\n    ')],
  frame: () => ({
    head: '{\n  "events": [\n    ',
    between: ',\n    ',
    tail: '\n  ]\n}\n',
    empty: '{\n  "events": []\n}\n',
  }),
}));

/** The events of a view, one a line. */
export const jsonlFormat: ForeignFormat = written('jsonl', 'the events of a view, one a line', () => ({
  event: (event) => [JSON.stringify(event)],
}));

/** The conversation of a view as Markdown: what was said, the tools that were called, and what they returned. */
export const markdownFormat: ForeignFormat = written('markdown', 'the conversation of a view, to read', (source) => {
  const talk = new WrittenTalk(source);
  return {
    event: (event) => {
      const { type, data, agent } = event;
      const title = type === 'run.started' ? [`# ${String(data['title'] ?? 'Run')}`] : [];
      return [...title, ...talk.of(event).flatMap((item) => sectionsOf(item, agent))];
    },
    frame: () => ({ head: '', between: '\n\n', tail: '\n' }),
  };
});

function sectionsOf(item: SaidItem, agent: string | undefined): string[] {
  if (item.kind === 'result') {
    const how = item.outcome === 'ok' ? '' : ` (${item.outcome})`;
    return [`### ${item.name}${how}\n\n${fenced(item.output)}`];
  }
  const { message } = item;
  const who = message['role'] === 'assistant' ? (agent ?? 'assistant') : String(message['role']);
  const body = bodyOf(message);
  return body === '' ? [] : [`## ${who}\n\n${body}`];
}

function bodyOf(message: JsonObject): string {
  const pieces = partsOf(message).flatMap((part) => {
    if (part.type === 'text') return [part.text];
    if (part.type === 'reasoning') return part.text === '' ? [] : [part.text.replace(/^/gm, '> ')];
    return part.type === 'tool-call' ? [`Calls \`${part.toolName}\`:\n\n${fenced(part.input)}`] : [];
  });
  return pieces.join('\n\n').trim();
}

/** Returns a value as a code block, in a fence that the value does not contain. */
function fenced(value: JsonValue): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  const longest = Math.max(2, ...Array.from(text.matchAll(/`+/g), ([ticks]) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text.replace(/\n$/, '')}\n${fence}`;
}
