import { given } from '../../json.ts';
import { errorTypeIn, LineCutter, type ReportReader, ReportTests, refuseReport, type TestReport } from './report.ts';

/** Reads what pytest prints: its short summary, and the last line with the counts. */
export class PytestReport implements ReportReader {
  readonly #tests = new ReportTests();
  readonly #lines = new LineCutter((line) => this.#line(line.replace(ansi, '')));
  #isInSummary = false;
  #isEnded = false;
  #isCut = false;
  #listsPassed = false;

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
    if (/no tests ran/.test(line) || !/\d+ (passed|failed|error)/.test(line)) this.#isCut = true;
  }

  #entry(line: string): void {
    const found = /^(FAILED|ERROR|PASSED|XPASS) (.+)$/.exec(line);
    if (found === null) return;
    const [, word, rest = ''] = found;
    const [testId, message] = splitOnce(rest, ' - ');
    if (word === 'PASSED' || word === 'XPASS') {
      this.#listsPassed = true;
      return this.#tests.pass(testId);
    }
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

const ansi = /\u001b\[[0-9;]*m/g;

/** Tells whether a line is the last one of pytest: the counts and the time, with or without the rule around them. */
function isLastLine(line: string): boolean {
  return /^(=+ )?(no tests ran|\d+ (passed|failed|errors?|skipped|deselected|xfailed|xpassed|warnings?)\b.*) in [\d.]+s\b/.test(
    line,
  );
}

function splitOnce(text: string, by: string): readonly [string, string?] {
  const at = text.indexOf(by);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + by.length)];
}
