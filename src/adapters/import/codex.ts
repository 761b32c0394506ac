import { given, isObject, type JsonObject, objectAt, stringAt } from '../../core/json.ts';
import { defineFormat, type ForeignFormat } from '../../core/recording/foreign-format.ts';
import { CodexReader } from './codex-events.ts';
import { firstLines, firstString } from './first-lines.ts';

/** The rollouts of Codex CLI, 0.40 to current. */
export const codex: ForeignFormat = defineFormat({
  name: 'codex',
  about: 'rollouts of Codex CLI (~/.codex/sessions)',
  places: [{ folder: '~/.codex/sessions', variable: 'CODEX_HOME', ending: '.jsonl' }],
  detect: ({ text }) => metaOf(text) !== undefined,
  cut: () => ({ kind: 'lines' }),
  open: ({ text }) => {
    const meta = metaOf(text);
    const session = stringAt(meta, 'id') ?? stringAt(meta, 'session_id');
    const reader = new CodexReader(session, meta);
    return {
      session,
      startedAt: firstString(firstLines(text), 'timestamp'),
      metadata: given({ cwd: stringAt(meta, 'cwd'), continues: baseOf(meta) }),
      unit: ({ value, at }) => (isObject(value) ? reader.line(value, at) : undefined),
      end: () => reader.end(),
    };
  },
});

function metaOf(text: string): JsonObject | undefined {
  const line = firstLines(text).find((each) => isObject(each) && each['type'] === 'session_meta');
  return objectAt(line, 'payload');
}

/** Returns the rollout that a session goes on from: its lines are in a file of their own. */
function baseOf(meta: JsonObject | undefined): string | undefined {
  return stringAt(objectAt(meta, 'history_base'), 'thread_id') ?? stringAt(meta, 'forked_from_id');
}
