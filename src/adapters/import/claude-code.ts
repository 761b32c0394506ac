import { booleanAt, isObject, type JsonObject, type JsonValue, stringAt } from '../../core/json.ts';
import { defineFormat, type ForeignFormat, type FoundFile } from '../../core/recording/foreign-format.ts';
import { ClaudeCodeReader } from './claude-code-events.ts';

/** The sessions of Claude Code, 1.0 to 2.1: lines that form a tree, with the lines of sub-agents in files of their own. */
export const claudeCode: ForeignFormat = defineFormat({
  name: 'claude-code',
  about: 'sessions of Claude Code (~/.claude/projects)',
  places: [{ folder: '~/.claude/projects', variable: 'CLAUDE_CONFIG_DIR', ending: '.jsonl' }],
  detect: ({ text }) => firstLines(text).some(isOwn),
  cut: () => ({ kind: 'lines' }),
  open: ({ text }) => {
    const session = firstLines(text).map((line) => stringAt(line, 'sessionId')).find((id) => id !== undefined);
    const reader = new ClaudeCodeReader(session);
    return {
      session,
      unit: ({ value, file }) => (isObject(value) ? reader.line(value, agentOf(file)) : undefined),
      end: () => reader.end(),
    };
  },
  beside: (path) => [path.replace(/\.jsonl$/, '/subagents'), path.replace(/[^/\\]*$/, '') || '.'],
  belongs: (file, main) => isSubAgent(file.path) && !isSubAgent(main.path) && sessionOf(file) === sessionOf(main),
});

const isSubAgent = (path: string): boolean => /(?:^|[/\\])agent-[^/\\]*\.jsonl$/.test(path);

/** Returns the agent that a file is of; undefined for the main file. */
function agentOf(file: string): string | undefined {
  return /agent-([^/\\]*)\.jsonl$/.exec(file)?.[1];
}

function sessionOf({ text }: FoundFile): string | undefined {
  return firstLines(text).map((line) => stringAt(line, 'sessionId')).find((id) => id !== undefined);
}

/** The lines that are looked at to tell a format. */
const linesMax = 20;

function firstLines(text: string): readonly JsonValue[] {
  return text.split('\n', linesMax).flatMap((line) => {
    try {
      return [JSON.parse(line) as JsonValue];
    } catch {
      return [];
    }
  });
}

function isOwn(line: JsonValue): boolean {
  if (!isObject(line)) return false;
  if (hasAll(line, ['uuid', 'sessionId', 'timestamp']) && (Object.hasOwn(line, 'parentUuid') || booleanAt(line, 'isSidechain') !== undefined))
    return true;
  return (line['type'] === 'summary' && hasAll(line, ['leafUuid'])) || (line['type'] === 'file-history-snapshot' && hasAll(line, ['messageId']));
}

const hasAll = (line: JsonObject, keys: readonly string[]): boolean => keys.every((key) => typeof line[key] === 'string');
