import { RepriseError } from '../error.ts';
import { isObject } from '../json.ts';
import { checkLimit } from '../limits.ts';

/** Scores by name; a higher one is better. */
export type Scores = Readonly<Record<string, number>>;

/** A pass or a failure, with a reason and scores if there are any. */
export interface PassAnswer {
  readonly passed: boolean;
  readonly reason?: string;
  readonly scores?: Scores;
}

/** The answer of a check or a judge: a pass or a failure, one score, several named scores, or all of it. */
export type CheckAnswer = boolean | number | Scores | PassAnswer;

/** The answer of a check in one form. */
export interface Checked {
  /** Null if the answer has only scores. */
  readonly passed: boolean | null;
  readonly scores: Scores;
  readonly reason: string | null;
}

/** The name of a score that has none. */
const onlyScore = 'score';

/** Reads the answer of a check. Throws `check.invalid` for anything else: nonsense is neither a pass nor a failure. */
export function checkedFrom(answer: unknown): Checked {
  if (typeof answer === 'boolean') return { passed: answer, scores: {}, reason: null };
  if (typeof answer === 'number') return { passed: null, scores: scoresIn({ [onlyScore]: answer }), reason: null };
  if (!isObject(answer)) return refuse(answer === null ? 'null' : `a value of type ${typeof answer}`);
  if (!('passed' in answer)) return { passed: null, scores: scoresIn(answer), reason: null };
  const { passed, reason = null, scores = {}, ...rest } = answer;
  const [other] = Object.keys(rest);
  if (other !== undefined) return refuse(`an answer with both "${other}" and "passed"`);
  if (typeof passed !== 'boolean') return refuse(`a "passed" that is ${JSON.stringify(passed)}`);
  if (reason !== null && typeof reason !== 'string') return refuse('a "reason" that is not a string');
  if (!isObject(scores)) return refuse('"scores" that are not an object');
  return { passed, scores: Object.keys(scores).length === 0 ? {} : scoresIn(scores), reason };
}

function scoresIn(held: object): Scores {
  const entries: readonly (readonly [string, unknown])[] = Object.entries(held);
  if (entries.length === 0) refuse('an object without scores');
  checkLimit('scoresMax', entries.length, 'score a branch in so many ways');
  for (const [name, score] of entries)
    if (typeof score !== 'number' || !Number.isFinite(score)) refuse(`a score "${name}" that is ${String(score)}`);
  return Object.fromEntries(entries) as Scores;
}

/** Returns two answers as one: it passed if nothing says that it failed. */
export function bothChecked(a: Checked, b: Checked): Checked {
  const said = [a.passed, b.passed].filter((passed) => passed !== null);
  const reasons = [a.reason, b.reason].filter((reason) => reason !== null);
  return {
    passed: said.length === 0 ? null : said.every((passed) => passed),
    scores: { ...a.scores, ...b.scores },
    reason: reasons.length === 0 ? null : reasons.join('; '),
  };
}

function refuse(what: string): never {
  throw new RepriseError('check.invalid', `Cannot read the answer of the check: it is ${what}`, {
    hint: 'Return true or false, a number, named numbers, or { passed, reason, scores }.',
  });
}
