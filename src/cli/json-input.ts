import { readFileSync } from 'node:fs';
import { parseJson } from '../core/canonical-json.ts';
import { RepriseError } from '../core/error.ts';
import type { JsonValue } from '../core/json.ts';

/** The value that is written as JSON on the command line. */
export function jsonArgument(text: string): JsonValue {
  return parsed(text, JSON.stringify(text), `Quote a text as JSON: '"${text.replaceAll(/["'\\\n]/g, '')}"'.`);
}

/** The value that a file holds as JSON; `-` is stdin. */
export function jsonFile(file: string): JsonValue {
  let text: string;
  try {
    text = readFileSync(file === '-' ? 0 : file, 'utf8');
  } catch (error) {
    throw new RepriseError('option.invalid', `Cannot read ${JSON.stringify(file)}: ${(error as Error).message}`, {
      hint: 'Check the path.',
      cause: error,
    });
  }
  return parsed(text, file === '-' ? 'stdin' : JSON.stringify(file), 'Write one JSON value in it.');
}

function parsed(text: string, where: string, hint: string): JsonValue {
  try {
    return parseJson(text);
  } catch (error) {
    if (!(error instanceof RepriseError)) throw error;
    const why = error.message.replace(/^Cannot parse JSON text: /, '');
    const isNumber = error.code === 'json.unsafe-number';
    throw new RepriseError(error.code, `Cannot read ${where} as JSON: ${why}`, {
      hint: isNumber ? (error.hint ?? hint) : hint,
      cause: error,
    });
  }
}
