import { given, isObject, stringAt } from '../../core/json.ts';
import { defineFormat, type ForeignFormat, type FoundFile } from '../../core/recording/foreign-format.ts';
import { GeminiReader } from './gemini-cli/events.ts';
import { firstLines, firstString } from './pieces/first-lines.ts';

/** The path of a chat of a sub-agent: it lies in a folder that is named by the session it works for. */
const subAgent = /[/\\]chats[/\\]([^/\\]+)[/\\]([^/\\]+)\.jsonl$/;

/** The chats of Gemini CLI: one JSON file, or lines with changes (`$set`) and rewinds (`$rewindTo`). */
export const geminiCli: ForeignFormat = defineFormat({
  name: 'gemini-cli',
  about: 'chats of Gemini CLI (~/.gemini/tmp/*/chats)',
  places: [
    { home: '~/.gemini', below: 'tmp', ending: '.json' },
    { home: '~/.gemini', below: 'tmp', ending: '.jsonl' },
  ],
  detect: ({ text }) => /"sessionId"\s*:/.test(text) && /"projectHash"\s*:/.test(text),
  cut: ({ text, path }) =>
    isLines(text) || (path !== undefined && path.endsWith('.jsonl'))
      ? { kind: 'lines' }
      : { kind: 'elements', of: ['messages'] },
  open: ({ text, document }) => {
    const lines = firstLines(text);
    const session = stringAt(document, 'sessionId') ?? firstString(lines, 'sessionId');
    const readers = new Map<string, GeminiReader>();
    const readerOf = (file: string): GeminiReader => {
      const reader = readers.get(file) ?? new GeminiReader(session, agentOf(file), document === undefined);
      readers.set(file, reader);
      return reader;
    };
    return {
      session,
      startedAt: stringAt(document, 'startTime') ?? firstString(lines, 'startTime'),
      metadata: given({ projectHash: stringAt(document, 'projectHash') ?? firstString(lines, 'projectHash') }),
      unit: ({ value, file, at }) =>
        isObject(value) ? readerOf(file).record(value, file === '' ? `${at}` : `${file}\n${at}`) : undefined,
      end: () => {
        const ends = [...readers.values()].map((reader) => reader.end());
        return { drafts: ends.flatMap(({ drafts }) => drafts), warnings: ends.flatMap(({ warnings }) => warnings) };
      },
    };
  },
  family: {
    parts: subAgent,
    beside: (path) => [path.replace(/[^/\\]*$/, '') || '.'],
    place: (file) => {
      const source = sessionOf(file);
      return source === undefined ? undefined : { source, rank: subAgent.test(file.path) ? 1 : 0 };
    },
  },
});

/** Returns true if the first line is a separate record. */
function isLines(text: string): boolean {
  const [first] = firstLines(text.split('\n', 1)[0] ?? '');
  return isObject(first) && !Object.hasOwn(first, 'messages');
}

/** Returns the name of the sub-agent that a file is of; undefined for the main file. */
function agentOf(file: string): string | undefined {
  return file === '' ? undefined : /([^/\\]*)\.jsonl$/.exec(file)?.[1];
}

/** Returns the session that a file belongs to; undefined for a chat in one JSON document. */
function sessionOf({ path, text }: FoundFile): string | undefined {
  if (!isLines(text)) return undefined;
  return subAgent.exec(path)?.[1] ?? firstString(firstLines(text), 'sessionId');
}
