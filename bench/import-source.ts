/** A session of Claude Code as its tool writes it: prompts, split responses, files that are read, and edits. */
import { closeSync, openSync, writeSync } from 'node:fs';

const words = 'the pool waits for a connection that nobody returns because retry holds it while it sleeps'.split(' ');

function prose(seed: number, length: number): string {
  let text = '';
  for (let at = seed; text.length < length; at += 7) text += `${words[at % words.length]} `;
  return text;
}

function code(seed: number, lines: number): string[] {
  return Array.from(
    { length: lines },
    (_, at) => `  const value${seed + at} = take(pool, ${at * seed}); // ${prose(at + seed, 24)}`,
  );
}

/** Yields the lines of one turn, each as JSON: about 20 KB. */
function* turnLines(turn: number, parent: string | null): Generator<string, string> {
  const time = (second: number): string =>
    new Date(Date.UTC(2026, 0, 14) + turn * 60_000 + second * 1_000).toISOString();
  const base = {
    isSidechain: false,
    userType: 'external',
    cwd: '/srv/app',
    sessionId: 'bench-1',
    version: '2.1.4',
    gitBranch: 'main',
  };
  let last = parent;
  let count = 0;
  const line = (type: string, rest: object): string => {
    const uuid = `${turn.toString(16).padStart(8, '0')}-0000-4000-8000-${(count++).toString(16).padStart(12, '0')}`;
    const text = JSON.stringify({ parentUuid: last, ...base, type, uuid, timestamp: time(count), ...rest });
    last = uuid;
    return text;
  };
  const response = (id: string, content: object[], out: number): object => ({
    message: {
      id,
      type: 'message',
      role: 'assistant',
      model: 'claude-sonnet-4-5',
      content,
      stop_reason: null,
      usage: { input_tokens: 9, cache_read_input_tokens: 21_000, output_tokens: out },
    },
  });
  const result = (id: string, content: string, toolUseResult: object): object => ({
    message: { role: 'user', content: [{ tool_use_id: id, type: 'tool_result', content }] },
    toolUseResult,
  });
  yield line('user', { message: { role: 'user', content: prose(turn, 400) } });
  yield line(
    'assistant',
    response(
      `msg_${turn}a`,
      [{ type: 'thinking', thinking: prose(turn + 1, 900), signature: prose(turn + 2, 300) }],
      3,
    ),
  );
  yield line('assistant', response(`msg_${turn}a`, [{ type: 'text', text: prose(turn + 3, 300) }], 5));
  yield line(
    'assistant',
    response(
      `msg_${turn}a`,
      [{ type: 'tool_use', id: `toolu_${turn}r`, name: 'Read', input: { file_path: '/srv/app/pool.ts' } }],
      120,
    ),
  );
  const file = code(turn, 70);
  const numbered = file.map((text, at) => `${String(at + 1).padStart(6)}\u2192${text}`).join('\n');
  yield line(
    'user',
    result(`toolu_${turn}r`, numbered, {
      type: 'text',
      file: { filePath: '/srv/app/pool.ts', content: file.join('\n'), numLines: 70, startLine: 1, totalLines: 70 },
    }),
  );
  const [oldString, newString] = [file[10] ?? '', `${file[10] ?? ''} // returned`];
  yield line(
    'assistant',
    response(
      `msg_${turn}b`,
      [
        {
          type: 'tool_use',
          id: `toolu_${turn}e`,
          name: 'Edit',
          input: { file_path: '/srv/app/pool.ts', old_string: oldString, new_string: newString },
        },
      ],
      210,
    ),
  );
  yield line(
    'user',
    result(`toolu_${turn}e`, `The file /srv/app/pool.ts has been updated.`, {
      filePath: '/srv/app/pool.ts',
      oldString,
      newString,
      originalFile: file.join('\n'),
      structuredPatch: [
        { oldStart: 10, oldLines: 1, newStart: 10, newLines: 1, lines: [`-${oldString}`, `+${newString}`] },
      ],
    }),
  );
  yield line('assistant', response(`msg_${turn}c`, [{ type: 'text', text: prose(turn + 5, 700) }], 95));
  return last ?? '';
}

/** Writes a source of about so many bytes and returns its size. */
export function writeSource(path: string, bytes: number): number {
  const file = openSync(path, 'w');
  let [written, parent] = [0, null as string | null];
  for (let turn = 0; written < bytes; turn++) {
    const lines = turnLines(turn, parent);
    let text = '';
    for (;;) {
      const { done, value } = lines.next();
      if (done === true) {
        parent = value;
        break;
      }
      text += `${value}\n`;
    }
    written += writeSync(file, text);
  }
  closeSync(file);
  return written;
}
