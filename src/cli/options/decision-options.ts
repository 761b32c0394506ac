import { Option } from 'commander';
import { parseJson } from '../../core/canonical-json.ts';
import { RepriseError } from '../../core/error.ts';
import type { JsonValue } from '../../core/json.ts';
import type { Decisions } from '../../engine/resuming/person-decisions.ts';
import { collect, listOption, type OptionValues } from '../option-values.ts';
import { readFailure } from './read-failure.ts';

/** Creates the options with which a person decides about what waits. */
export function decisionOptions(): readonly Option[] {
  const options = [
    new Option('--approve <call>', 'let this tool call be made, repeatable').argParser(collect),
    new Option('--deny <call[=reason]>', 'do not make this tool call, repeatable').argParser(collect),
    new Option('--answer <call=json>', 'answer this question, repeatable').argParser(collect),
  ];
  return options.map((option) => option.helpGroup('Decisions about what waits for a person:'));
}

/** Reads those options; a wrong one is refused before anything is opened. */
export function decisionsIn(options: OptionValues): Decisions {
  const approve = listOption(options, 'approve');
  const deny = listOption(options, 'deny').map((text) => {
    const [call, reason] = split(text);
    return reason === undefined ? call : { call, reason };
  });
  const answer = Object.fromEntries(listOption(options, 'answer').map(answerIn));
  return {
    ...(approve.length === 0 ? {} : { approve }),
    ...(deny.length === 0 ? {} : { deny }),
    ...(Object.keys(answer).length === 0 ? {} : { answer }),
  };
}

function split(text: string): readonly [call: string, rest: string | undefined] {
  const at = text.indexOf('=');
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

function answerIn(text: string): readonly [string, JsonValue] {
  const [call, json] = split(text);
  if (json === undefined || call === '') return refuse(text, 'is not CALL=JSON');
  try {
    return [call, parseJson(json)];
  } catch (error) {
    return refuse(text, `has no JSON after the "=": ${readFailure(error)}`);
  }
}

function refuse(text: string, why: string): never {
  throw new RepriseError('option.invalid', `Cannot read --answer: ${JSON.stringify(text)} ${why}`, {
    hint: `Write --answer 'CALL="yes"', with the answer as JSON.`,
  });
}
