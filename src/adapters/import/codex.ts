import { given, isObject, type JsonObject, objectAt, stringAt } from '../../core/json.ts';
import { defineFormat, type ForeignFormat, type ResumeFacts } from '../../core/recording/foreign-format.ts';
import { codexBase, metaIn, metaOf, numbered, withMeta } from './codex/base.ts';
import { CodexReader } from './codex/events.ts';
import { codexWriter } from './codex/writing.ts';
import { firstLines, firstString } from './pieces/first-lines.ts';

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
      unit: ({ value, at, base }) => (isObject(value) ? reader.line(value, at, base) : undefined),
      end: () => reader.end(),
    };
  },
  base: codexBase,
  write: codexWriter,
  resume: resumed,
});

/** Returns the lines of a rollout under a new id: a tool finds it by the id in its name and in its first line. */
function resumed(
  lines: readonly string[],
  { id, time }: ResumeFacts,
): { readonly path: string; readonly text: string } {
  const text = lines.map((line) => {
    const meta = metaIn(line);
    if (meta === undefined) return line;
    const own = Object.hasOwn(meta, 'session_id') ? { session_id: id } : {};
    return withMeta(line, { ...meta, id, ...own });
  });
  const [day = '', clock = ''] = time.split('T');
  const name = `rollout-${day}T${clock.slice(0, 8).replaceAll(':', '-')}-${id}.jsonl`;
  return { path: `${day.replaceAll('-', '/')}/${name}`, text: `${numbered(text).join('\n')}\n` };
}

/** Returns the rollout that a session continues: its lines are in a separate file. */
function baseOf(meta: JsonObject | undefined): string | undefined {
  return stringAt(objectAt(meta, 'history_base'), 'thread_id') ?? stringAt(meta, 'forked_from_id');
}
