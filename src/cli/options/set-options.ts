import { existsSync } from 'node:fs';
import { RepriseError } from '../../core/error.ts';
import { parseFilter } from '../../core/event/filter.ts';
import { parseRef } from '../../core/ref.ts';
import type { SetPoint } from '../../engine/experimenting/experiment-place.ts';
import type { Reprise } from '../../engine/reprise.ts';
import { checkListQuery, listBranches } from '../../reading/answers/list-branches.ts';
import { inputText } from './input-text.ts';

const sessionsMax = 1_000;

/**
 * Reads `--sessions`: a file with one session on each line or a JSON list of them, or conditions on the listing such as
 * `outcome=error,agents=support`, which select the sessions with a matching branch.
 */
export async function sessionsIn(reprise: Reprise, text: string): Promise<readonly string[]> {
  if (text === '-' || existsSync(text)) return sessionsOfFile(inputText(text), text);
  if (!text.includes('='))
    return refuse(
      '--sessions',
      `${JSON.stringify(text)} is neither a file nor conditions`,
      'Write --sessions FILE, or --sessions "outcome=error".',
    );
  const { fields = [] } = parseFilter(text);
  checkListQuery({ fields });
  const found: string[] = [];
  for await (const [first] of listBranches(reprise, { limit: sessionsMax, fields, folds: true }))
    if (first !== undefined) found.push(first.session.id);
  if (found.length > 0) return found;
  return refuse(
    '--sessions',
    `no session matches ${JSON.stringify(text)}`,
    'See what matches: reprise list --filter CONDITIONS',
  );
}

function sessionsOfFile(text: string, path: string): readonly string[] {
  const words = text.trimStart().startsWith('[') ? jsonList(text, path) : text.split('\n');
  const sessions = words.map((word) => word.trim()).filter((word) => word !== '' && !word.startsWith('#'));
  if (sessions.length > 0) return sessions.map((word) => parseRef(word).session);
  return refuse('--sessions', `${JSON.stringify(path)} names no session`, 'Write one session on each line.');
}

function jsonList(text: string, path: string): readonly string[] {
  let held: unknown;
  try {
    held = JSON.parse(text);
  } catch {
    held = undefined;
  }
  if (Array.isArray(held) && held.every((item): item is string => typeof item === 'string')) return held;
  return refuse(
    '--sessions',
    `${JSON.stringify(path)} is not a JSON list of strings`,
    'Write ["session-1", "session-2"].',
  );
}

/** Reads `--at`: `first-user-message`, `before-call:TOOL`, `after:CONDITIONS`, `before:CONDITIONS`, or a seq or turn. */
export function setPointIn(text: string): SetPoint {
  if (text === 'first-user-message') return text;
  const [, word = '', rest = ''] = /^(before-call|after|before):(.+)$/s.exec(text) ?? [];
  if (word === 'before-call') return { beforeCall: rest };
  if (word === 'after' || (word === 'before' && rest.includes('='))) {
    const filter = parseFilter(rest);
    return word === 'after' ? { after: filter } : { before: filter };
  }
  return { point: `main@${text}` };
}

/** The least share of passes that variants must have: of all of them, or by name. */
export type FailUnder = readonly { readonly variant: string | undefined; readonly rate: number }[];

/** Reads `--fail-under 0.9` and `--fail-under brief=0.9`. */
export function failUnderIn(words: readonly string[]): FailUnder {
  return words.map((word) => {
    const at = word.lastIndexOf('=');
    const rate = Number(word.slice(at + 1));
    if (word.slice(at + 1).trim() === '' || !(rate >= 0 && rate <= 1))
      return refuse(
        '--fail-under',
        `${JSON.stringify(word)} is not a share from 0 to 1`,
        'Write --fail-under 0.9 or --fail-under VARIANT=0.9.',
      );
    return { variant: at < 0 ? undefined : word.slice(0, at), rate };
  });
}

function refuse(flag: string, why: string, hint: string): never {
  throw new RepriseError('option.invalid', `Cannot read ${flag}: ${why}`, { hint });
}
