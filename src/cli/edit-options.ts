import { readFileSync } from 'node:fs';
import { Option } from 'commander';
import { parseJson } from '../core/canonical-json.ts';
import type { Edit, EditOptions } from '../core/edit.ts';
import { RepriseError } from '../core/error.ts';
import type { EventDraft } from '../core/event.ts';
import { isObject, type JsonObject, type JsonValue } from '../core/json.ts';

const collect = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];

/** The options for everything an edit can be. */
export const editOptions: readonly Option[] = [
  new Option('--prompt <text>', 'another last user message'),
  new Option('--system <text>', 'another system prompt'),
  new Option('--model <model>', 'another model'),
  new Option('--replace <seq=file>', 'put an event (JSON) in the place of another; - is stdin').argParser(collect),
  new Option('--insert <seq=file>', 'put an event (JSON) behind another; 0 is the beginning').argParser(collect),
  new Option('--drop <seq>', 'take an event out').argParser(collect),
  new Option('--tool-result <seq=file>', 'another answer (JSON) to a call').argParser(collect),
  new Option('--tool-input <seq=file>', 'other arguments (JSON) of a call').argParser(collect),
  new Option('--set <key=json>', 'write a state key').argParser(collect),
];

/** What the edit options ask for. */
export function editsFrom(options: Readonly<Record<string, unknown>>): EditOptions {
  const all = (name: string): readonly string[] => (options[name] as readonly string[] | undefined) ?? [];
  const edits: Edit[] = [
    ...all('replace').map((text): Edit => ({ kind: 'replace', seq: seqOf('--replace', text), event: replacement(valueOf('--replace', text)) })),
    ...all('insert').map((text): Edit => ({ kind: 'insert', after: seqOf('--insert', text), event: valueOf('--insert', text) as unknown as EventDraft })),
    ...all('toolResult').map((text): Edit => ({ kind: 'toolResult', call: seqOf('--tool-result', text), output: valueOf('--tool-result', text) })),
    ...all('toolInput').map((text): Edit => ({ kind: 'toolInput', call: seqOf('--tool-input', text), input: valueOf('--tool-input', text) })),
    ...all('drop').map((text): Edit => ({ kind: 'drop', seq: whole('--drop', text) })),
    ...all('set').map((text): Edit => ({ kind: 'state', key: split('--set', text)[0], value: parseJson(split('--set', text)[1]) })),
  ];
  const { prompt, system, model } = options as { readonly prompt?: string; readonly system?: string; readonly model?: string };
  return { ...(prompt === undefined ? {} : { prompt }), ...(system === undefined ? {} : { system }), ...(model === undefined ? {} : { model }), edits };
}

/** An event as it is printed, or only its new data. */
function replacement(value: JsonValue): { readonly type?: string; readonly data?: JsonObject } {
  if (!isObject(value)) refuse('--replace', 'the file does not hold a JSON object');
  if (isObject(value['data']) && typeof value['type'] === 'string') return { type: value['type'], data: value['data'] };
  return { data: value };
}

const seqOf = (option: string, text: string): number => whole(option, split(option, text)[0]);
const valueOf = (option: string, text: string): JsonValue => readJson(option, split(option, text)[1]);

function split(option: string, text: string): readonly [string, string] {
  const at = text.indexOf('=');
  if (at <= 0) refuse(option, `${JSON.stringify(text)} has no "="`);
  return [text.slice(0, at), text.slice(at + 1)];
}

function whole(option: string, text: string): number {
  if (!/^\d+$/.test(text)) refuse(option, `${JSON.stringify(text)} is not a seq`);
  return Number(text);
}

/** JSON from a file, or from stdin for `-`. */
export function readJson(option: string, file: string): JsonValue {
  let text: string;
  try {
    text = readFileSync(file === '-' ? 0 : file, 'utf8');
  } catch (error) {
    return refuse(option, `cannot read ${JSON.stringify(file)}: ${(error as Error).message}`);
  }
  return parseJson(text);
}

function refuse(option: string, why: string): never {
  throw new RepriseError('edit.invalid', `Cannot read ${option}: ${why}`, { hint: `Write ${option} SEQ=FILE, with - for stdin.` });
}
