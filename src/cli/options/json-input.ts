import { parseJson } from '../../core/canonical-json.ts';
import { RepriseError } from '../../core/error.ts';
import type { JsonValue } from '../../core/json.ts';
import { inputText } from './input-text.ts';
import { readFailure } from './read-failure.ts';

/** Parses a value that is written as JSON on the command line. */
export function jsonArgument(text: string): JsonValue {
  const hint = /^\s*[{[]/.test(text)
    ? `Put names and strings in double quotes, and the whole value in single quotes: '{"next":"ask"}'.`
    : `Quote text as JSON: '"${text.replaceAll(/["'\\\n]/g, '')}"'.`;
  return parsed(text, JSON.stringify(text), hint);
}

/** Parses the JSON value in a file; `-` is stdin. */
export function jsonFile(file: string): JsonValue {
  let text: string;
  try {
    text = inputText(file);
  } catch (error) {
    if (error instanceof RepriseError) throw error;
    throw new RepriseError('option.invalid', `Cannot read ${JSON.stringify(file)}: ${readFailure(error)}`, {
      hint: 'Check the path.',
      cause: error,
    });
  }
  return parsed(text, file === '-' ? 'stdin' : JSON.stringify(file), 'Write a single JSON value in it.');
}

function parsed(text: string, where: string, hint: string): JsonValue {
  try {
    return parseJson(text);
  } catch (error) {
    if (!(error instanceof RepriseError)) throw error;
    const isNumber = error.code === 'json.unsafe-number';
    throw new RepriseError(error.code, `Cannot read ${where} as JSON: ${readFailure(error)}`, {
      hint: isNumber ? (error.hint ?? hint) : hint,
      cause: error,
    });
  }
}
