import { booleanAt, isObject, type JsonObject, type JsonValue } from '../../core/json.ts';
import { defineFormat, type ForeignFormat, type FoundFile } from '../../core/recording/foreign-format.ts';
import { ClaudeCodeReader } from './claude-code/events.ts';
import { claudeWriter } from './claude-code/writing.ts';
import { firstLines, firstString, readJson } from './pieces/first-lines.ts';

/** The path of a file of a sub-agent. */
const subAgent = /(?:^|[/\\])agent-[^/\\]*\.jsonl$/;

/** The sessions of Claude Code, 1.0 to 2.1: lines that form a tree, with the lines of sub-agents in separate files. */
export const claudeCode: ForeignFormat = defineFormat({
  name: 'claude-code',
  about: 'sessions of Claude Code (~/.claude/projects)',
  places: [{ home: '~/.claude', variable: 'CLAUDE_CONFIG_DIR', below: 'projects', ending: '.jsonl' }],
  detect: ({ text }) => firstLines(text).some(isOwn),
  cut: () => ({ kind: 'lines' }),
  open: ({ text, files }) => {
    const lines = firstLines(text);
    const session = firstString(lines, 'sessionId');
    const reader = new ClaudeCodeReader(session, new Set(files.map(agentOf)));
    return {
      session,
      startedAt: firstString(lines, 'timestamp'),
      unit: ({ value, file }) => (isObject(value) ? reader.line(value, agentOf(file)) : undefined),
      end: () => reader.end(),
    };
  },
  write: claudeWriter,
  resume: (lines, { id }) => {
    const held = lines.map((line) => readJson(line));
    const cwd =
      firstString(
        held.filter((line) => line !== undefined),
        'cwd',
      ) ?? '/';
    const text = lines.map((line, index) =>
      isObject(held[index]) && Object.hasOwn(held[index], 'sessionId')
        ? JSON.stringify({ ...held[index], sessionId: id })
        : line,
    );
    return { path: `${cwd.replace(/[^A-Za-z0-9]/g, '-')}/${id}.jsonl`, text: `${text.join('\n')}\n` };
  },
  family: {
    parts: subAgent,
    beside: (path) => [path.replace(/\.jsonl$/, '/subagents'), path.replace(/[^/\\]*$/, '') || '.'],
    place: (file) => {
      const source = sessionOf(file);
      return source === undefined ? undefined : { source, rank: subAgent.test(file.path) ? 1 : 0 };
    },
  },
});

/** Returns the agent that a file is of; undefined for the main file. */
function agentOf(file: string): string | undefined {
  return /agent-([^/\\]*)\.jsonl$/.exec(file)?.[1];
}

function sessionOf({ text }: FoundFile): string | undefined {
  return firstString(firstLines(text), 'sessionId');
}

function isOwn(line: JsonValue): boolean {
  if (!isObject(line)) return false;
  if (
    hasAll(line, ['uuid', 'sessionId', 'timestamp']) &&
    (Object.hasOwn(line, 'parentUuid') || booleanAt(line, 'isSidechain') !== undefined)
  )
    return true;
  return (
    (line['type'] === 'summary' && hasAll(line, ['leafUuid'])) ||
    (line['type'] === 'file-history-snapshot' && hasAll(line, ['messageId']))
  );
}

const hasAll = (line: JsonObject, keys: readonly string[]): boolean =>
  keys.every((key) => typeof line[key] === 'string');
