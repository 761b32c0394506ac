import { given, isObject, type JsonObject, objectAt, stringAt } from '../../core/json.ts';
import { defineFormat, type ForeignFormat, type ResumeFacts } from '../../core/recording/foreign-format.ts';
import { CodexReader } from './codex-events.ts';
import { codexWriter } from './codex-writing.ts';
import { firstLines, firstString, readJson } from './first-lines.ts';

/** The rollouts of Codex CLI, 0.40 to current. */
export const codex: ForeignFormat = defineFormat({
  name: 'codex',
  about: 'rollouts of Codex CLI (~/.codex/sessions)',
  places: [{ home: '~/.codex', variable: 'CODEX_HOME', below: 'sessions', ending: '.jsonl' }],
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
  write: codexWriter,
  resume: resumed,
});

/** Returns the lines of a rollout under a new id: a tool finds it by the id in its name and in its first line. */
function resumed(
  lines: readonly string[],
  { id, time }: ResumeFacts,
): { readonly path: string; readonly text: string } {
  const text = lines.map((line) => {
    const held = readJson(line);
    const meta = isObject(held) && held['type'] === 'session_meta' ? objectAt(held, 'payload') : undefined;
    if (meta === undefined || !isObject(held)) return line;
    const own = Object.hasOwn(meta, 'session_id') ? { session_id: id } : {};
    return JSON.stringify({ ...held, payload: { ...meta, id, ...own } });
  });
  const [day = '', clock = ''] = time.split('T');
  const name = `rollout-${day}T${clock.slice(0, 8).replaceAll(':', '-')}-${id}.jsonl`;
  return { path: `${day.replaceAll('-', '/')}/${name}`, text: `${text.join('\n')}\n` };
}

function metaOf(text: string): JsonObject | undefined {
  const line = firstLines(text).find((each) => isObject(each) && each['type'] === 'session_meta');
  return objectAt(line, 'payload');
}

/** Returns the rollout that a session goes on from: its lines are in a file of their own. */
function baseOf(meta: JsonObject | undefined): string | undefined {
  return stringAt(objectAt(meta, 'history_base'), 'thread_id') ?? stringAt(meta, 'forked_from_id');
}
