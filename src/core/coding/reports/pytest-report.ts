import { given } from '../../json.ts';
import {
  errorTypeIn,
  LineCutter,
  type ReportReader,
  ReportTests,
  refuseReport,
  type TestReport,
  withoutColors,
} from './report.ts';

/** Reads what pytest prints: its short summary, and the last line with the counts. */
export class PytestReport implements ReportReader {
  readonly #tests = new ReportTests();
  readonly #lines = new LineCutter((line) => this.#line(withoutColors(line)));
  #isInSummary = false;
  #isEnded = false;
  #isCut = false;
  #listsPassed = false;
  /** The lines of the summary that list a failure. */
  #listed = 0;

  write(text: string): void {
    this.#lines.write(text);
  }

  #line(line: string): void {
    if (/^=+ short test summary info =+$/.test(line)) this.#isInSummary = true;
    else if (/^!+ (Interrupted|stopping after|KeyboardInterrupt|_pytest\.outcomes\.Exit)/.test(line))
      this.#isCut = true;
    else if (isLastLine(line)) this.#end(line);
    else if (this.#isInSummary) this.#entry(line);
  }

  #end(line: string): void {
    this.#isEnded = true;
    this.#isInSummary = false;
    const count = (word: string): number => Number(new RegExp(`(\\d+) ${word}`).exec(line)?.[1] ?? 0);
    const failed = count('failed') + count('error');
    // A test that was left out may be one that failed before, and the text does not name it.
    const leftOut = count('skipped') + count('deselected') + count('xfailed');
    if (failed + count('passed') === 0 || failed > this.#listed || leftOut > 0) this.#isCut = true;
  }

  #entry(line: string): void {
    const found = /^(FAILED|ERROR|PASSED|XPASS) (.+)$/.exec(line);
    if (found === null) return;
    const [, word, rest = ''] = found;
    const [testId, message] = splitEntry(rest);
    if (word === 'PASSED' || word === 'XPASS') {
      this.#listsPassed = true;
      return this.#tests.pass(testId);
    }
    this.#listed += 1;
    const file = testId.split('::')[0];
    const errorType = message === undefined ? undefined : errorTypeIn(message);
    const name = testId.includes('::') ? testId.slice(testId.indexOf('::') + 2) : undefined;
    this.#tests.fail({ testId, ...given({ file, name, errorType, message }) });
  }

  end(): TestReport {
    this.#lines.end();
    if (!this.#isEnded && this.#tests.isEmpty)
      refuseReport('pytest', 'it has neither a summary nor a last line with counts');
    return this.#tests.report({
      framework: 'pytest',
      isCut: this.#isCut || !this.#isEnded,
      listsPassed: this.#listsPassed,
    });
  }
}

/** Returns true if a line is the last one of pytest: the counts and the time, with or without the rule around them. */
function isLastLine(line: string): boolean {
  return /^(=+ )?(no tests ran|\d+ (passed|failed|errors?|skipped|deselected|xfailed|xpassed|warnings?)\b.*) in [\d.]+s\b/.test(
    line,
  );
}

const separator = ' - ';

/** Splits a line of the summary into the id and the message; a dash within the brackets of parameters separates nothing. */
function splitEntry(text: string): readonly [string, string?] {
  const isBalanced = (id: string): boolean => id.split('[').length === id.split(']').length;
  const first = text.indexOf(separator);
  let at = first;
  while (at >= 0 && !isBalanced(text.slice(0, at))) at = text.indexOf(separator, at + 1);
  const end = at < 0 ? first : at;
  return end < 0 ? [text] : [text.slice(0, end), text.slice(end + separator.length)];
}
