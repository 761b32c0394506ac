import type { EventDraft } from '../../core/event/event.ts';
import {
  arrayAt,
  given,
  isObject,
  type JsonObject,
  type JsonValue,
  numberAt,
  objectAt,
  stringAt,
} from '../../core/json.ts';
import {
  defineFormat,
  type ForeignFormat,
  type ForeignUnit,
  type UnitMeaning,
} from '../../core/recording/foreign-format.ts';
import { BernsteinChain } from './bernstein/chain.ts';
import { firstLines, readJson } from './pieces/first-lines.ts';

/** The files of a run, in the order in which they are read: rotated parts come first. */
const runFiles = [
  'metadata.json',
  'session.json',
  'replay.jsonl.1',
  'replay.jsonl',
  'journal.jsonl',
  'llm_calls.jsonl',
];

/** The same files; the first that is there is the main one. */
const ranks = ['replay.jsonl', 'journal.jsonl', 'llm_calls.jsonl', 'replay.jsonl.1', 'metadata.json', 'session.json'];

/**
 * The runs of Bernstein (`.sdd/runs/ID`): its replay log with rotated parts, its journal with its chain checked, its
 * model calls and metadata; and the traces of its tasks (`TASK.jsonl`, `trace-ID.json`, `TASK-TIME.json`).
 */
export const bernstein: ForeignFormat = defineFormat({
  name: 'bernstein',
  about: 'runs and task traces of Bernstein (.sdd)',
  detect: ({ text }) =>
    firstLines(text).some((line) => isRow(line) || isTrace(line)) ||
    isTrace(readJson(text)) ||
    /"task_snapshots"\s*:\s*\[/.test(text),
  cut: ({ text, path }) => {
    const isLines =
      path === undefined
        ? firstLines(text).some((line) => isRow(line) || isTrace(line))
        : /\.jsonl(?:\.\d+)?$/.test(path);
    return isLines ? { kind: 'lines' } : { kind: 'whole' };
  },
  open: ({ text, path, document }) => {
    const reader = new BernsteinReader();
    const row = firstLines(text).find(isRow);
    const run = stringAt(row, 'run_id') ?? folderOf(path);
    const trace = isTrace(document) ? document : firstLines(text).find(isTrace);
    return {
      session: trace === undefined ? run : traceSession(trace, document !== undefined),
      startedAt: timeOf(numberAt(row ?? trace, 'ts') ?? numberAt(trace, 'spawn_ts')),
      unit: (unit) => (isObject(unit.value) ? reader.unit(unit, unit.value) : undefined),
    };
  },
  family: {
    parts: /(?:^|[/\\])(?:(?:metadata|session)\.json|replay\.jsonl(?:\.1)?|journal\.jsonl|llm_calls\.jsonl)$/,
    beside: (path) => [path.replace(/[^/\\]*$/, '') || '.'],
    place: ({ path }) => {
      const source = path.replace(/[^/\\]*$/, '');
      const rank = ranks.indexOf(path.slice(source.length));
      return rank < 0 ? undefined : { source, rank };
    },
  },
  order: (names) => names.toSorted((a, b) => rankOf(a) - rankOf(b)),
});

/** The main file has no name; it is the replay log. */
const rankOf = (name: string): number => (name === '' ? runFiles.indexOf('replay.jsonl') : runFiles.indexOf(name));

const isRow = (value: JsonValue | undefined): value is JsonObject =>
  isObject(value) && typeof value['event'] === 'string' && typeof value['elapsed_s'] === 'number';

const isTrace = (value: JsonValue | undefined): value is JsonObject =>
  isObject(value) && typeof value['trace_id'] === 'string' && Array.isArray(value['task_ids']);

/** Returns the session of a trace; a file of lines has all traces of one task, each of which may be a file too. */
function traceSession(trace: JsonObject, isAlone: boolean): string | undefined {
  const [task] = arrayAt(trace, 'task_ids') ?? [];
  return isAlone || typeof task !== 'string'
    ? (stringAt(trace, 'trace_id') ?? stringAt(trace, 'session_id'))
    : `traces-${task}`;
}

const folderOf = (path: string | undefined): string | undefined => path?.split(/[/\\]/).at(-2);

function timeOf(seconds: number | undefined): string | undefined {
  return seconds === undefined || Math.abs(seconds) > 8e12 ? undefined : new Date(seconds * 1000).toISOString();
}

class BernsteinReader {
  readonly #chain = new BernsteinChain();
  #run: string | undefined;

  unit({ file, text }: ForeignUnit, value: JsonObject): UnitMeaning | undefined {
    if (isTrace(value)) return { type: 'trace', drafts: traceEvents(value) };
    if (/(?:metadata|session)\.json$/.test(file))
      return { type: 'metadata', drafts: [{ type: 'metadata.changed', data: { set: value } }] };
    if (file.endsWith('llm_calls.jsonl')) return { type: 'llm_call', drafts: this.#modelCall(value) };
    const type = stringAt(value, 'event');
    if (type === undefined) return undefined;
    const fault = typeof value['event_hash'] === 'string' ? this.#chain.next(text ?? '') : undefined;
    // The journal tells again what the replay log tells; where both are there, the log speaks.
    const drafts = file.endsWith('journal.jsonl') ? [] : this.#drafts(type, value);
    return { type, drafts, ...(fault === undefined ? {} : { warnings: [`the chain is broken here: ${fault}`] }) };
  }

  #modelCall(row: JsonObject): EventDraft[] {
    const about = { call: stringAt(row, 'key') ?? '', kind: 'model', name: stringAt(row, 'model') ?? 'unknown' };
    const message = { role: 'assistant', content: String(row['response'] ?? '') };
    const time = given({ time: timeOf(numberAt(row, 'ts')), run: this.#run });
    return [
      { type: 'call.started', ...time, data: { ...about, effect: 'pure' } },
      { type: 'call.ended', ...time, data: { ...about, outcome: 'ok', message } },
    ];
  }

  #drafts(type: string, row: JsonObject): EventDraft[] {
    const agent = stringAt(row, 'agent_id');
    if (type === 'run_started') this.#run = stringAt(row, 'run_id');
    const drafts = eventsOf(type, row);
    return drafts.map((draft) => ({
      ...given({ agent, run: this.#run, time: timeOf(numberAt(row, 'ts')) }),
      ...draft,
    }));
  }
}

function eventsOf(type: string, row: JsonObject): EventDraft[] {
  const task = stringAt(row, 'task_id') ?? '';
  const [model, role] = [stringAt(row, 'model'), stringAt(row, 'role')];
  switch (type) {
    case 'run_started':
      return [
        {
          type: 'run.started',
          data: given({ title: stringAt(row, 'run_id'), configDigest: stringAt(row, 'config_hash'), git: gitOf(row) }),
        },
      ];
    case 'run_completed':
      return [{ type: 'run.ended', data: { outcome: 'ok' } }];
    case 'tick_start':
      return [{ type: 'turn.started', data: {} }];
    case 'agent_spawned':
      return [{ type: 'agent.spawned', data: given({ role, model }) }];
    case 'agent_reaped':
      return [{ type: 'agent.ended', data: { outcome: 'ok' } }];
    case 'task_claimed':
      return [{ type: 'task.claimed', data: { task, ...given({ model }) } }];
    case 'task_completed':
      // The cost in this row is that of the whole run so far, not of the task.
      return [{ type: 'task.ended', data: { task, outcome: 'ok', ...given({ result: row['result_summary'] }) } }];
    case 'task_verification_failed':
      return [{ type: 'verification.failed', data: { task, signals: arrayAt(row, 'failed_signals') ?? [] } }];
    case 'task_retried':
      return [{ type: 'task.started', data: { task } }];
    default:
      return [];
  }
}

function gitOf(row: JsonObject): JsonObject | undefined {
  const [branch, sha] = [stringAt(row, 'git_branch'), stringAt(row, 'git_sha')];
  return branch === undefined && sha === undefined ? undefined : given({ branch, sha });
}

/** Returns the events of a task's trace: its tasks with their results, by which they can be retried. */
function traceEvents(trace: JsonObject): EventDraft[] {
  const agent = stringAt(trace, 'session_id');
  const [start, end] = [timeOf(numberAt(trace, 'spawn_ts')), timeOf(numberAt(trace, 'end_ts'))];
  const snapshots = (arrayAt(trace, 'task_snapshots') ?? []).filter(isObject);
  const model = stringAt(trace, 'model');
  const ids = (arrayAt(trace, 'task_ids') ?? []).map(String);
  const outcome = trace['outcome'] === 'success' ? 'ok' : trace['outcome'] === 'failed' ? 'error' : 'interrupted';
  const begun = ids.flatMap((task): EventDraft[] => {
    const known = snapshots.find((snapshot) => snapshot['id'] === task) ?? snapshots[0];
    const facts = given({
      title: stringAt(known, 'title'),
      prompt: stringAt(known, 'description'),
      role: stringAt(known, 'role'),
    });
    return [
      { type: 'task.started', data: { task, ...facts } },
      { type: 'task.claimed', data: { task, ...given({ model }) } },
    ];
  });
  const ended = ids.map((task): EventDraft => {
    const known = snapshots.find((snapshot) => snapshot['id'] === task);
    const result = known?.['result_summary'] ?? objectAt(trace, 'result')?.['summary'];
    return {
      type: 'task.ended',
      data: { task, outcome, ...given({ result: result === '' ? undefined : (result ?? undefined) }) },
    };
  });
  const spawned: EventDraft = { type: 'agent.spawned', data: given({ role: stringAt(trace, 'agent_role'), model }) };
  const of = (drafts: readonly EventDraft[], time: string | undefined): EventDraft[] =>
    drafts.map((draft) => ({ ...given({ agent, time }), ...draft }));
  return [...of([spawned, ...begun], start), ...of(ended, end ?? start)];
}
