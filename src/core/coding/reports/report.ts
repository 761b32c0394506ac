import { RepriseError } from '../../error.ts';
import { given } from '../../json.ts';
import { checkLimit, limits } from '../../limits.ts';

/** The forms of reports that can be read. */
export type ReportFormat = 'vitest' | 'junit' | 'tap' | 'pytest' | 'go';

/** One failure of a report, in the words of `testRun`. */
export interface ReportedFailure {
  readonly testId: string;
  readonly file?: string;
  readonly name?: string;
  readonly errorType?: string;
  readonly message?: string;
}

/** A report of tests, in the words of `testRun`: spread it into that verb's argument. */
export interface TestReport {
  readonly framework?: string;
  readonly failures: readonly ReportedFailure[];
  /** The tests that passed; missing if the report does not list them in a way that names them for sure. */
  readonly passed?: readonly string[];
  readonly skipped?: readonly string[];
  /** False if the report shows that its run was cut short; missing if it does not say. */
  readonly finished?: false;
}

/** Reads one report, piece by piece, in flat memory. */
export interface ReportReader {
  write(text: string): void;
  /** Returns the report; throws `report.invalid` if the text was torn. */
  end(): TestReport;
}

/** Collects the tests of a report, up to a limit. */
export class ReportTests {
  readonly #failures = new Map<string, ReportedFailure>();
  readonly #passed = new Set<string>();
  readonly #skipped = new Set<string>();
  #count = 0;

  fail(failure: ReportedFailure): void {
    this.#add();
    const { message } = failure;
    const shown =
      message === undefined ? undefined : withoutColors(message).slice(0, limits.errorTextMax).toWellFormed();
    this.#failures.set(failure.testId, { ...failure, ...given({ message: shown }) });
  }

  pass(testId: string): void {
    this.#add();
    this.#passed.add(testId);
  }

  skip(testId: string): void {
    this.#add();
    this.#skipped.add(testId);
  }

  get hasSkipped(): boolean {
    return this.#skipped.size > 0;
  }

  get isEmpty(): boolean {
    return this.#count === 0;
  }

  report(about: {
    readonly framework?: string | undefined;
    readonly isCut?: boolean;
    readonly listsPassed?: boolean;
  }): TestReport {
    const { framework, isCut = false, listsPassed = true } = about;
    return {
      ...given({ framework }),
      failures: [...this.#failures.values()],
      ...(listsPassed ? { passed: [...this.#passed], skipped: [...this.#skipped] } : {}),
      ...(isCut ? { finished: false as const } : {}),
    };
  }

  #add(): void {
    this.#count += 1;
    checkLimit('reportTestsMax', this.#count, 'read a report of tests');
  }
}

/** Refuses a report that cannot be read. */
export function refuseReport(format: string, why: string, cause?: unknown): never {
  throw new RepriseError('report.invalid', `Cannot read a ${format} report: ${why}`, {
    hint: 'Check that the run wrote the whole file, and that the file is a vitest or jest JSON, JUnit XML, TAP, pytest or "go test -json" report.',
    details: { format },
    ...given({ cause }),
  });
}

/** Cuts text into lines, whatever pieces it comes in. */
export class LineCutter {
  readonly #visit: (line: string) => void;
  #rest = '';

  constructor(visit: (line: string) => void) {
    this.#visit = visit;
  }

  write(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    checkLimit('reportEntryMax', this.#rest.length, 'read a line of a report');
    for (const line of lines) this.#visit(line.endsWith('\r') ? line.slice(0, -1) : line);
  }

  /** Visits the last line, and returns whether it had no line break. */
  end(): boolean {
    const rest = this.#rest;
    this.#rest = '';
    if (rest !== '') this.#visit(rest);
    return rest !== '';
  }
}

/** Returns the type of error that a message such as `TypeError: boom` begins with. */
export function errorTypeIn(message: string): string | undefined {
  const text = withoutColors(message).trimStart();
  return /^((?:[A-Za-z_][\w.]*)?(?:Error|Exception|Failure|Interrupt|Warning))\b/.exec(text)?.[1];
}

/** Returns text without the sequences that color it on a terminal. */
export function withoutColors(text: string): string {
  return text.includes('\u001b') ? text.replace(terminalSequence, '') : text;
}

const terminalSequence = /\u001b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\^_])/g;
