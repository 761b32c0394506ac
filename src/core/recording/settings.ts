import { RepriseError } from '../error.ts';
import { given, isObject, type JsonObject, type JsonValue } from '../json.ts';
import type { MaskingOptions } from '../masking/masking-options.ts';
import { type Config, checkConfig } from './config.ts';

/** The fields of a configuration that plain data can express: commands read them without running code. */
export type Settings = Pick<Config, 'store' | 'namespace' | 'masking'>;

/** The names of those fields. */
export const settingFields = ['store', 'namespace', 'masking'] as const;

/** The name of a field that settings can have. */
export type SettingField = (typeof settingFields)[number];

/** Takes the value of a settings file as settings, or throws `config.invalid` with the file and the field. */
export function checkSettings(value: JsonValue, file: string): Settings {
  if (!isObject(value)) return refuse(file, undefined, 'it does not hold an object', `Write: ${exampleSettings}`);
  for (const name of Object.keys(value))
    if (!settingFields.some((field) => field === name))
      refuse(file, name, 'there is no such field', `Fields: ${settingFields.join(', ')}.`);
  const { masking, ...rest } = value;
  const read = masking === undefined ? rest : { ...rest, masking: maskingIn(masking, file) };
  return checkConfig(read, file);
}

const exampleSettings = '{ "store": "sqlite:PATH", "namespace": "NAME" }';

/** Reads masking options from JSON, where a pattern is a string, and its flags another. */
function maskingIn(value: JsonValue, file: string): unknown {
  if (!isObject(value) || !Array.isArray(value['rules'])) return value;
  return { ...value, rules: value['rules'].map((rule: JsonValue, index) => ruleIn(rule, index, file)) };
}

function ruleIn(rule: JsonValue, index: number, file: string): unknown {
  if (!isObject(rule)) return rule;
  const { pattern, flags = '', ...rest } = rule;
  if (pattern === undefined) return rule;
  const field = `masking.rules[${index}].pattern`;
  if (typeof pattern !== 'string' || typeof flags !== 'string')
    return refuse(file, field, 'it is not a string', 'Write the pattern without slashes: "\\\\bORD-\\\\d{6}\\\\b".');
  try {
    return { ...rest, pattern: new RegExp(pattern, flags) };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return refuse(file, field, why, 'Write a regular expression of JavaScript.');
  }
}

function refuse(file: string, field: string | undefined, why: string, hint: string): never {
  const what = field === undefined ? JSON.stringify(file) : `"${field}" of ${JSON.stringify(file)}`;
  throw new RepriseError('config.invalid', `Cannot use ${what}: ${why}`, {
    hint,
    details: { file, ...given({ field }) },
  });
}

/** Returns the settings in a configuration, as their file has them. */
export function settingsOf({ store, namespace, masking }: Config): JsonObject {
  return given({ store, namespace, masking: masking === undefined ? undefined : maskingJson(masking) });
}

function maskingJson(masking: MaskingOptions | false): JsonValue {
  if (masking === false) return false;
  const { rules, except } = masking;
  const asJson = rules?.map(({ name, pattern, fields }) =>
    given({ name, pattern: pattern?.source, flags: pattern?.flags === '' ? undefined : pattern?.flags, fields }),
  );
  return given({ rules: asJson, except });
}

/** The two files of a project that can have the same field. */
export interface SettingFiles {
  readonly file: string;
  readonly settingsFile: string;
}

/** Refuses a field that differs between a configuration and the settings next to it. */
export function refuseDifferent({ file, settingsFile }: SettingFiles, field: SettingField): never {
  const why = `${JSON.stringify(settingsFile)} says something different`;
  return refuse(file, field, why, 'Remove the field from one of the two files.');
}

/** Refuses a namespace or masking that differs between a configuration and the settings next to it. */
export function checkSame(config: Config, settings: Settings, files: SettingFiles): void {
  const [ofConfig, ofSettings] = [settingsOf(config), settingsOf(settings)];
  for (const field of ['namespace', 'masking'] as const) {
    const [left, right] = [ofConfig[field], ofSettings[field]];
    if (left !== undefined && right !== undefined && JSON.stringify(left) !== JSON.stringify(right))
      refuseDifferent(files, field);
  }
}

/**
 * Returns true if the text of a configuration may set a field: whether the name is there as the key of a value. The
 * text is not run, so a field that is computed, spread or imported does not show.
 */
export function mayName(text: string, field: keyof Config): boolean {
  return new RegExp(String.raw`(?<![\w$.-])(["'\x60]?)${field}\1\s*[\]:,}(]|\.${field}\s*=(?!=)`).test(text);
}
