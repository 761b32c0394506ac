import { isArray, isObject, type JsonArray, type JsonObject, type JsonValue } from '../../core/json.ts';
import type { StateOperation } from '../../engine/state/entry.ts';
import type { StateTransaction } from '../../engine/state/state-replay.ts';
import { plain } from '../../wording/text.ts';
import { jsonText } from '../terminal/json-text.ts';

const summaryMax = 120;
const keyMax = 48;
const agentMax = 20;

/** How to print the operations of a transaction. */
export interface OperationFrame {
  /** Printed unless it is `default`. */
  readonly namespace: string;
  readonly isVerbose: boolean;
}

/**
 * Prints the operations of a transaction, one per line: `10:00:00Z  agent=support  WRITE  key=plan  v=2  seq=7  {"next":"ask"}`.
 * In verbose mode, the whole value follows each line. The format is a contract: programs split these lines into fields.
 */
export function operationLines(
  { txn, time, operations, erased, seq }: StateTransaction,
  { namespace, isVerbose }: OperationFrame,
): string[] {
  const start = [`${time.slice(11, 19)}Z`, ...(namespace === 'default' ? [] : [`ns=${plain(namespace)}`])];
  if (erased === true) return [[...start, 'ERASED', `seq=${seq}`].join('  ')];
  return operations.flatMap((operation, index) => {
    const { agent, key, op, version } = operation;
    const who = `agent=${shortAgent(agent)}`;
    if (!isVerbose) {
      const cells = [
        who,
        labelOf(operation).padEnd(5),
        `key=${shortKey(key).padEnd(20)}`,
        `v=${version}`,
        `seq=${seq}`,
      ];
      return [[...start, ...cells, op === 'delete' ? '' : summaryOf(operation.value ?? null)].join('  ').trimEnd()];
    }
    const cells = [
      `txn=${txn.slice(0, 12)}`,
      `event=${index}`,
      who,
      op.toUpperCase(),
      `key=${plain(key)}`,
      `v=${version}`,
      `seq=${seq}`,
    ];
    const payload =
      op === 'delete'
        ? []
        : [
            'payload:',
            ...jsonText(operation.value, 2)
              .split('\n')
              .map((line) => `  ${line}`),
          ];
    return [[...start, ...cells].join('  '), ...payload];
  });
}

/** Returns the label of an operation: `DEL` for a delete, else by the first part of its key where that is known. */
function labelOf({ op, key }: StateOperation): string {
  if (op === 'delete') return 'DEL';
  if (key.startsWith('tool/')) return 'TOOL';
  if (key.startsWith('note/') || key.startsWith('annotation/')) return 'NOTE';
  if (key.startsWith('final/') || key.startsWith('answer/')) return 'FINAL';
  return 'WRITE';
}

function shortAgent(agent: string): string {
  const shown = plain(agent);
  return shown.length <= agentMax ? shown : `${whole(shown, agentMax - 3)}...`;
}

/** Shortens a key: a path keeps both ends, any other key its beginning. */
export function shortKey(key: string): string {
  const shown = plain(key);
  if (shown.length <= keyMax) return shown;
  const names = shown.split('/');
  const ends = `${names[0]}/.../${names.at(-1)}`;
  return names.length > 2 && ends.length <= keyMax ? ends : `${whole(shown, keyMax - 3)}...`;
}

/** Summarizes a value in at most 120 characters. */
export function summaryOf(value: JsonValue): string {
  if (typeof value === 'string') return textSummary(value);
  if (typeof value !== 'object' || value === null) return String(value);
  const text = jsonText(value);
  if (text.length <= summaryMax) return text;
  return isArray(value) ? listSummary(value) : isObject(value) ? objectSummary(value) : text;
}

function textSummary(value: string): string {
  const escaped = plain(value.replaceAll('\n', '\\n').replaceAll('\r', '\\r').replaceAll('\t', '\\t'));
  return escaped.length + 2 <= summaryMax ? `"${escaped}"` : `"${whole(escaped, summaryMax - 6)}..."`;
}

function listSummary(value: JsonArray): string {
  const items = value.slice(0, 2).map((item) => {
    const text = jsonText(item);
    return text.length <= 30 ? text : `${whole(text, 27)}...`;
  });
  return `[${items.join(', ')}${value.length > 2 ? ', ...' : ''}] len=${value.length}`;
}

function objectSummary(value: JsonObject): string {
  const names = Object.keys(value);
  const shown = names.slice(0, 2).map((name) => `${plain(name.length <= 30 ? name : `${whole(name, 27)}...`)}:...`);
  return `{${shown.join(', ')}, n_fields=${names.length}}`;
}

/** Cuts a string after that many code units, without half a character at the end. */
function whole(text: string, units: number): string {
  return text
    .slice(0, units)
    .toWellFormed()
    .replace(/\ufffd$/, '');
}
