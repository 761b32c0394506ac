import { Option } from 'commander';
import { parseJson } from '../../core/canonical-json.ts';
import { RepriseError } from '../../core/error.ts';
import type { EventDraft } from '../../core/event/event.ts';
import { given, isObject, type JsonObject, type JsonValue } from '../../core/json.ts';
import type { Edit, EditOptions } from '../../core/view/edit.ts';
import { inputText } from './input-text.ts';
import { readFailure } from './read-failure.ts';

/** Gathers an option that may be given several times. */
export const collect = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];

const repeated = (flags: string, about: string): Option => new Option(flags, about).argParser(collect);

/** The options for everything an edit can be. They are applied in this order. */
export function editOptions(): readonly Option[] {
  const options = [
    new Option('--prompt <text>', 'another last user message'),
    new Option('--system <text>', 'another system prompt'),
    new Option('--model <model>', 'another model'),
    new Option('--tools <file>', 'other tool definitions: a JSON array'),
    repeated('--replace <seq=file>', 'put an event in the place of another: { type?, data } or only its data'),
    repeated('--message <seq=file>', 'put a message in the place of the one that an event holds'),
    repeated('--tool-input <seq=file>', 'other arguments of a call'),
    repeated('--tool-result <seq=file>', 'another answer to a call, which may still be open'),
    repeated('--insert <after=file>', 'put an event, { type, data }, behind another; 0 is the beginning'),
    repeated('--drop <seq>', 'take an event out, and with it the other half of its call'),
    new Option('--cascade', 'with --drop: also everything that depended on it'),
    repeated('--append <file>', 'an event, { type, data }, at the end'),
    repeated('--set <key=json>', 'write a state key'),
    repeated('--unset <key>', 'delete a state key'),
    repeated('--belief <file>', 'commit a belief: { topic, claim, … }'),
    new Option('--for <agent>', 'whose state or belief it is (default: "default")'),
  ];
  return options.map((option) => option.helpGroup('Edits (a file is JSON; - is stdin):'));
}

interface Given {
  readonly prompt?: string;
  readonly system?: string;
  readonly model?: string;
  readonly tools?: string;
  readonly cascade?: boolean;
  readonly for?: string;
}

/** What the edit options ask for. */
export function editsFrom(options: Readonly<Record<string, unknown>>): EditOptions {
  const files = new Files();
  const { prompt, system, model, tools } = options as Given;
  return {
    ...given({ prompt, system, model }),
    ...(tools === undefined ? {} : { tools: listIn('--tools', files.json('--tools', tools)) }),
    edits: [...changes(files, options), ...additions(files, options)],
  };
}

const all = (options: Readonly<Record<string, unknown>>, name: string): readonly string[] =>
  (options[name] as readonly string[] | undefined) ?? [];

/** Edits of events that are there. */
function changes(files: Files, options: Readonly<Record<string, unknown>>): Edit[] {
  const pairs = (name: string, flag: string): { readonly seq: number; readonly value: JsonValue }[] =>
    all(options, name).map((text) => {
      const [seq, file] = split(flag, text, 'SEQ=FILE');
      return { seq: whole(flag, seq), value: files.json(flag, file) };
    });
  const cascade = (options as Given).cascade === true;
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
    ...all(options, 'drop').map((text): Edit => ({ kind: 'drop', seq: whole('--drop', text), cascade })),
  ];
}

/** Edits that add something at the end. */
function additions(files: Files, options: Readonly<Record<string, unknown>>): Edit[] {
  const { for: agent } = options as Given;
  const owner = given({ agent });
  return [
    ...all(options, 'append').map(
      (file): Edit => ({ kind: 'append', event: draftIn('--append', files.json('--append', file)) }),
    ),
    ...all(options, 'set').map((text): Edit => {
      const [key, value] = jsonPair('--set', text);
      return { kind: 'state', key, value, ...owner };
    }),
    ...all(options, 'unset').map((key): Edit => ({ kind: 'state', key, ...owner })),
    ...all(options, 'belief').map(
      (file): Edit => ({ kind: 'belief', belief: objectIn('--belief', files.json('--belief', file)), ...owner }),
    ),
  ];
}

/** A whole event as it is printed, `{ type, data }`, or only its new data. */
function replacement(value: JsonValue): { readonly type?: string; readonly data?: JsonObject } {
  const held = objectIn('--replace', value);
  if (isObject(held['data']) && typeof held['type'] === 'string') return { type: held['type'], data: held['data'] };
  return { data: held };
}

/** An event to add. What only the store may give is left out, so that a printed event can be given back. */
function draftIn(flag: string, value: JsonValue): EventDraft {
  const { type, data, version, time, agent, run, turn, cause } = objectIn(flag, value);
  if (typeof type !== 'string') refuse(flag, 'the event has no type', 'Write { "type": "note.added", "data": { … } }.');
  const given = { type, data, version, time, agent, run, turn, cause };
  return Object.fromEntries(Object.entries(given).filter(([, held]) => held !== undefined)) as unknown as EventDraft;
}

function objectIn(flag: string, value: JsonValue): JsonObject {
  return isObject(value) ? value : refuse(flag, 'the file does not hold a JSON object', 'Write { … } in it.');
}

function listIn(flag: string, value: JsonValue): readonly JsonValue[] {
  return Array.isArray(value) ? value : refuse(flag, 'the file does not hold a JSON array', 'Write [ … ] in it.');
}

/** `KEY=JSON` in two. */
export function jsonPair(flag: string, text: string): readonly [string, JsonValue] {
  const [key, value] = split(flag, text, 'KEY=JSON');
  try {
    return [key, parseJson(value)];
  } catch (error) {
    const hint = `Quote a text as JSON: ${flag} '${key}="${value.replaceAll(/["'\\]/g, '')}"'.`;
    return refuse(flag, `${JSON.stringify(value)} is not JSON: ${readFailure(error)}`, hint);
  }
}

function split(flag: string, text: string, form: string): readonly [string, string] {
  const at = text.indexOf('=');
  // The empty text is a state key like any other.
  if (at < (flag === '--set' ? 0 : 1)) refuse(flag, `${JSON.stringify(text)} is not ${form}`, `Write ${flag} ${form}.`);
  return [text.slice(0, at), text.slice(at + 1)];
}

function whole(flag: string, text: string): number {
  return /^\d+$/.test(text)
    ? Number(text)
    : refuse(flag, `${JSON.stringify(text)} is not a seq`, 'A seq is a whole number, as "reprise replay" shows it.');
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
      return refuse(flag, `${where} is not JSON: ${readFailure(error)}`, 'Write one JSON value in it.');
    }
  }

  #text(flag: string, file: string): string {
    if (file === '-' && this.#hasReadStdin) refuse(flag, 'stdin was read by another option', 'Use a file for one.');
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
