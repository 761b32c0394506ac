import { Option } from 'commander';
import { parseJson } from '../../core/canonical-json.ts';
import { RepriseError } from '../../core/error.ts';
import type { EventDraft } from '../../core/event/event.ts';
import { given, isObject, type JsonObject, type JsonValue } from '../../core/json.ts';
import type { Edit, EditOptions } from '../../core/view/edit.ts';
import type { OpenRef } from '../../reading/open-ref.ts';
import { plain } from '../../wording/text.ts';
import type { Context } from '../context.ts';
import { collect, flagOption, listOption, type OptionValues, textOption } from '../option-values.ts';
import { inputText } from './input-text.ts';
import { readFailure } from './read-failure.ts';

const repeated = (flags: string, about: string): Option => new Option(flags, about).argParser(collect);

/** Creates the options for every kind of edit. Edits are applied in this order. */
export function editOptions(): readonly Option[] {
  const options = [
    new Option('--prompt <text>', 'replace the last user message'),
    new Option('--system <text>', 'replace the system prompt'),
    new Option('--model <model>', 'use a different model'),
    new Option('--tools <file>', 'replace the tool definitions: a JSON array'),
    repeated('--replace <seq=file>', 'replace an event: { type, data }, or only its data'),
    repeated('--message <seq=file>', 'replace the message of an event'),
    repeated('--tool-input <seq=file>', 'replace the arguments of a tool call'),
    repeated('--tool-result <seq=file>', 'answer a tool call, or replace its answer'),
    repeated('--insert <after=file>', 'insert an event, { type, data }, after a seq; 0 is the beginning'),
    repeated('--drop <seq>', 'drop an event, and the other half of its call'),
    new Option('--cascade', 'with --drop: also drop everything that depends on it'),
    repeated('--append <file>', 'append an event, { type, data }'),
    repeated('--set <key=json>', 'write a state key'),
    repeated('--unset <key>', 'delete a state key'),
    repeated('--belief <file>', 'commit a belief: { topic, claim, … }'),
    new Option(
      '--for <agent>',
      'agent that the system prompt, model and tools are for (default: the one that continues), and that owns the state or belief (default: "default")',
    ),
  ];
  return options.map((option) => option.helpGroup('Edits (files are JSON; - is stdin):'));
}

/** Reads the edit options. */
export function editsFrom(options: OptionValues): EditOptions {
  const files = new Files();
  const settings = settingsIn(files, options);
  const edits = [...settings, ...changes(files, options), ...additions(files, options)];
  if (textOption(options, 'for') !== undefined && !edits.some((edit) => 'agent' in edit))
    refuse('--for', 'no option says what is for that agent', 'Add --system, --model, --tools, --set or --belief.');
  return { ...given({ prompt: textOption(options, 'prompt') }), edits };
}

/** Reads the edits of settings: of the agent that `--for` names, else of the one that continues. */
function settingsIn(files: Files, options: OptionValues): Edit[] {
  const [text, model, tools] = ['system', 'model', 'tools'].map((name) => textOption(options, name));
  const owner = given({ agent: textOption(options, 'for') });
  return [
    ...(text === undefined ? [] : [{ kind: 'system' as const, text, ...owner }]),
    ...(model === undefined ? [] : [{ kind: 'model' as const, model, ...owner }]),
    ...(tools === undefined
      ? []
      : [{ kind: 'tools' as const, tools: listIn('--tools', files.json('--tools', tools)), ...owner }]),
  ];
}

/** Says so if the history knows nothing of the agent that `--for` names: its settings would change nothing. */
export async function noteUnknownAgent(
  { out }: Context,
  { session, point }: OpenRef,
  options: OptionValues,
): Promise<void> {
  const agent = textOption(options, 'for');
  const hasSettings = ['system', 'model', 'tools'].some((name) => textOption(options, name) !== undefined);
  if (agent === undefined || !hasSettings) return;
  if ((await session.at(point).find({ agent })) !== undefined) return;
  out.say(`Nothing here is of agent "${plain(agent)}" yet. The settings count once it acts.`);
}

/** Reads the edits of existing events. */
function changes(files: Files, options: OptionValues): Edit[] {
  const pairs = (name: string, flag: string): { readonly seq: number; readonly value: JsonValue }[] =>
    listOption(options, name).map((text) => {
      const [seq, file] = split(flag, text, 'SEQ=FILE');
      return { seq: whole(flag, seq), value: files.json(flag, file) };
    });
  const cascade = flagOption(options, 'cascade');
  return [
    ...pairs('replace', '--replace').map(
      ({ seq, value }): Edit => ({ kind: 'replace', seq, event: replacement(value) }),
    ),
    ...pairs('message', '--message').map(
      ({ seq, value }): Edit => ({ kind: 'message', seq, message: objectIn('--message', value) }),
    ),
    ...pairs('toolInput', '--tool-input').map(
      ({ seq, value }): Edit => ({ kind: 'toolInput', call: seq, input: value }),
    ),
    ...pairs('toolResult', '--tool-result').map(
      ({ seq, value }): Edit => ({ kind: 'toolResult', call: seq, output: value }),
    ),
    ...pairs('insert', '--insert').map(
      ({ seq, value }): Edit => ({ kind: 'insert', after: seq, event: draftIn('--insert', value) }),
    ),
    ...listOption(options, 'drop').map((text): Edit => ({ kind: 'drop', seq: whole('--drop', text), cascade })),
  ];
}

/** Reads the edits that add something at the end. */
function additions(files: Files, options: OptionValues): Edit[] {
  const owner = given({ agent: textOption(options, 'for') });
  return [
    ...listOption(options, 'append').map(
      (file): Edit => ({ kind: 'append', event: draftIn('--append', files.json('--append', file)) }),
    ),
    ...listOption(options, 'set').map((text): Edit => {
      const [key, value] = jsonPair('--set', text);
      return { kind: 'state', key, value, ...owner };
    }),
    ...listOption(options, 'unset').map((key): Edit => ({ kind: 'state', key, ...owner })),
    ...listOption(options, 'belief').map(
      (file): Edit => ({ kind: 'belief', belief: objectIn('--belief', files.json('--belief', file)), ...owner }),
    ),
  ];
}

/** Reads a whole event as it is printed, `{ type, data }`, or only its new data. */
function replacement(value: JsonValue): { readonly type?: string; readonly data?: JsonObject } {
  const held = objectIn('--replace', value);
  if (isObject(held['data']) && typeof held['type'] === 'string') return { type: held['type'], data: held['data'] };
  return { data: held };
}

/** Reads an event to add, without the fields that only the store assigns, so that a printed event can be used. */
function draftIn(flag: string, value: JsonValue): EventDraft {
  const { type, data, version, time, agent, run, turn, cause } = objectIn(flag, value);
  if (typeof type !== 'string') refuse(flag, 'the event has no type', 'Write { "type": "note.added", "data": { … } }.');
  const fields: Partial<Record<keyof EventDraft, JsonValue>> = given({ data, version, time, agent, run, turn, cause });
  // The append checks every field.
  return { ...(fields as Omit<EventDraft, 'type'>), type };
}

function objectIn(flag: string, value: JsonValue): JsonObject {
  return isObject(value) ? value : refuse(flag, 'the file does not contain a JSON object', 'Write { … } in it.');
}

function listIn(flag: string, value: JsonValue): readonly JsonValue[] {
  return Array.isArray(value) ? value : refuse(flag, 'the file does not contain a JSON array', 'Write [ … ] in it.');
}

/** Splits `KEY=JSON`. */
export function jsonPair(flag: string, text: string): readonly [string, JsonValue] {
  const [key, value] = split(flag, text, 'KEY=JSON');
  try {
    return [key, parseJson(value)];
  } catch (error) {
    const hint = `Quote text as JSON: ${flag} '${key}="${value.replaceAll(/["'\\]/g, '')}"'.`;
    return refuse(flag, `${JSON.stringify(value)} is not JSON: ${readFailure(error)}`, hint);
  }
}

function split(flag: string, text: string, form: string): readonly [string, string] {
  const at = text.indexOf('=');
  // The empty string is a valid state key.
  if (at < (flag === '--set' ? 0 : 1)) refuse(flag, `${JSON.stringify(text)} is not ${form}`, `Write ${flag} ${form}.`);
  return [text.slice(0, at), text.slice(at + 1)];
}

function whole(flag: string, text: string): number {
  return /^\d+$/.test(text)
    ? Number(text)
    : refuse(flag, `${JSON.stringify(text)} is not a seq`, 'Use a whole number, as "reprise replay" shows it.');
}

/** Reads the files that options name. Stdin can be read only once. */
class Files {
  #hasReadStdin = false;

  json(flag: string, file: string): JsonValue {
    const text = this.#text(flag, file);
    try {
      return parseJson(text);
    } catch (error) {
      const where = file === '-' ? 'stdin' : JSON.stringify(file);
      return refuse(flag, `${where} is not JSON: ${readFailure(error)}`, 'Write a single JSON value in it.');
    }
  }

  #text(flag: string, file: string): string {
    if (file === '-' && this.#hasReadStdin)
      refuse(flag, 'a different option already read stdin', 'Use a file for one of them.');
    this.#hasReadStdin ||= file === '-';
    try {
      return inputText(file);
    } catch (error) {
      return refuse(flag, `${JSON.stringify(file)} cannot be read: ${readFailure(error)}`, 'Check the path.');
    }
  }
}

function refuse(flag: string, why: string, hint: string): never {
  throw new RepriseError('edit.invalid', `Cannot read ${flag}: ${why}`, { hint });
}
