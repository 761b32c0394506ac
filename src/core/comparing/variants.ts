import { messageOf, RepriseError } from '../error.ts';
import { arrayAt, isObject, type JsonObject, type JsonValue, objectAt, stringAt } from '../json.ts';
import { type EffectPolicy, effectActions, isEffectClass } from '../recording/effects.ts';
import { isSimulation } from '../recording/simulation.ts';
import type { EditOptions } from '../view/edit.ts';

/** One variant of an experiment: its changes. Without any, it tries the original again. */
export interface Variant extends EditOptions {
  /** Its name; its branches are `<name>-1`, `<name>-2` and so on. */
  readonly name: string;
  /** Temperature, limits and the like, for every later model call. */
  readonly settings?: JsonObject;
  /** The agent that runs it, by name; the one of the experiment if left out. */
  readonly with?: string;
  /** Options for the framework's own run call, instead of the experiment's. */
  readonly run?: JsonValue;
}

/** The limits of a run. */
export type Budget = {
  /** How many model calls. */
  readonly modelCalls?: number;
  /** Input and output tokens. */
  readonly tokens?: number;
  /** US dollars. */
  readonly costUsd?: number;
};

/** A file of variants: the variants, and how to run them unless the caller says otherwise. */
export interface VariantsFile {
  readonly variants: readonly Variant[];
  readonly repeats?: number;
  readonly parallel?: number;
  /** A command that checks each branch: exit code 0 is a pass. */
  readonly check?: string;
  readonly budget?: Budget;
  readonly effects?: EffectPolicy;
}

/**
 * Reads variants from a JSON text or value: `{ "variants": [ … ], "repeats": 3, … }`, or the list of variants alone.
 * Throws `experiment.invalid`, which names the field, if they are not well formed.
 *
 * @example
 * ```ts
 * const { variants } = parseVariants('[{ "name": "as-is" }, { "name": "brief", "system": "Be brief." }]');
 * console.log(variants.map(({ name }) => name)); // [ 'as-is', 'brief' ]
 * ```
 */
export function parseVariants(input: unknown): VariantsFile {
  const value = typeof input === 'string' ? parsed(input) : input;
  if (Array.isArray(value)) return { variants: checkVariants(value) };
  const file = checkFields('', value, fileFields);
  return { ...file, variants: checkVariants(arrayAt(file, 'variants')) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    return refuse(`it is not JSON: ${messageOf(error)}`);
  }
}

function refuse(why: string, hint = 'See the file format in docs/guides/experiment.md.'): never {
  throw new RepriseError('experiment.invalid', `Cannot read the variants: ${why}`, { hint });
}

type Check = (value: unknown, path: string) => void;

const text: Check = (value, path) => {
  if (typeof value !== 'string') refuse(`"${path}" is not a string`);
};
const name: Check = (value, path) => {
  if (typeof value !== 'string' || value === '') refuse(`"${path}" is not a name`);
};
const object: Check = (value, path) => {
  if (!isObject(value)) refuse(`"${path}" is not an object`);
};
const array: Check = (value, path) => {
  if (!Array.isArray(value)) refuse(`"${path}" is not an array`);
};
const anything: Check = () => undefined;
const positive: Check = (value, path) => {
  if (typeof value !== 'number' || !(value > 0) || value === Number.POSITIVE_INFINITY)
    refuse(`"${path}" is not a number above 0`);
};
const count: Check = (value, path) => {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 1)
    refuse(`"${path}" is not a whole number from 1`);
};

const action: Check = (value, path) => {
  if (!effectActions.some((known) => known === value)) refuse(`"${path}" is not one of ${effectActions.join(', ')}`);
};
const effects: Check = (value, path) => {
  if (typeof value === 'string') return action(value, path);
  const policy = checkFields(path, value, { classes: object, names: object });
  for (const [key, held] of Object.entries(objectAt(policy, 'classes') ?? {})) {
    if (!isEffectClass(key)) refuse(`"${path}.classes.${key}" is not an effect class`);
    action(held, `${path}.classes.${key}`);
  }
  for (const [key, held] of Object.entries(objectAt(policy, 'names') ?? {})) {
    if (isSimulation(held)) checkFields(`${path}.names.${key}`, held, { simulate: anything });
    else action(held, `${path}.names.${key}`);
  }
};
const budget: Check = (value, path) => {
  checkFields(path, value, { modelCalls: count, tokens: count, costUsd: positive });
};
const edits: Check = (value, path) => {
  const list: readonly unknown[] = Array.isArray(value) ? value : refuse(`"${path}" is not an array`);
  for (const [index, edit] of list.entries()) {
    const checked = isObject(edit) ? edit : refuse(`"${path}[${index}]" is not an object`);
    text(checked['kind'], `${path}[${index}].kind`);
  }
};

const fileFields: Readonly<Record<string, Check>> = {
  variants: array,
  repeats: count,
  parallel: count,
  check: name,
  budget,
  effects,
};

const variantFields: Readonly<Record<keyof Variant, Check>> = {
  name,
  prompt: text,
  system: text,
  model: name,
  tools: array,
  settings: object,
  edits,
  with: name,
  run: anything,
};

/** Refuses an unknown field: a misspelled one would silently change nothing. */
function checkFields(path: string, value: unknown, fields: Readonly<Record<string, Check>>): JsonObject {
  if (!isObject(value))
    return refuse(path === '' ? 'it is neither an object nor an array' : `"${path}" is not an object`);
  for (const [key, held] of Object.entries(value)) {
    const where = path === '' ? key : `${path}.${key}`;
    const check = Object.hasOwn(fields, key) ? fields[key] : undefined;
    if (check === undefined) refuse(`"${where}" is not a field`, `The fields are ${Object.keys(fields).join(', ')}.`);
    else if (held !== undefined) check(held, where);
  }
  return value;
}

function checkVariants(variants: readonly unknown[] | undefined): readonly Variant[] {
  if (variants === undefined) return refuse('"variants" is missing');
  if (variants.length === 0) return refuse('"variants" is empty');
  const names = new Set<string>();
  for (const [index, variant] of variants.entries()) {
    const checked = checkFields(`variants[${index}]`, variant, variantFields);
    name(checked['name'], `variants[${index}].name`);
    const held = stringAt(checked, 'name') ?? '';
    if (names.has(held))
      refuse(`"variants[${index}].name" is ${JSON.stringify(held)} again`, 'Give each variant its own name.');
    names.add(held);
  }
  return variants as readonly Variant[];
}
