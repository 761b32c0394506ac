import { given, isObject, type JsonObject, type JsonValue, stringAt } from '../../json.ts';
import { limits } from '../../limits.ts';
import { LineCutter, type ReportReader, ReportTests, refuseReport, type TestReport } from './report.ts';

/** Reads the lines of `go test -json`. */
export class GoReport implements ReportReader {
  readonly #tests = new ReportTests();
  readonly #lines = new LineCutter((line) => this.#line(line));
  /** The packages that have started and not ended, and those in which a test has failed. */
  readonly #open = new Set<string>();
  readonly #failing = new Set<string>();
  /** The output of tests and builds that have not ended. */
  readonly #outputs = new Map<string, string>();
  #events = 0;
  #isTorn = false;

  write(text: string): void {
    this.#lines.write(text);
  }

  #line(line: string): void {
    if (!line.startsWith('{')) return;
    const event = parsed(line);
    if (event === undefined) this.#isTorn = true;
    else if (stringAt(event, 'Action') !== undefined) this.#event(event);
  }

  #event(event: JsonObject): void {
    this.#events += 1;
    const packageName = stringAt(event, 'Package') ?? stringAt(event, 'ImportPath') ?? '';
    const test = stringAt(event, 'Test');
    const key = test === undefined ? packageName : `${packageName}::${test}`;
    const action = stringAt(event, 'Action') ?? '';
    switch (action) {
      case 'start':
        this.#open.add(packageName);
        return;
      case 'output':
      case 'build-output':
        return this.#output(key, stringAt(event, 'Output') ?? '');
      case 'pass':
      case 'skip':
      case 'fail':
        return this.#ended(action, { key, packageName, test });
    }
  }

  #output(key: string, text: string): void {
    const held = this.#outputs.get(key) ?? '';
    if (held.length < limits.errorTextMax && !/^=== |^\s*--- /.test(text)) this.#outputs.set(key, held + text);
  }

  #ended(
    how: 'pass' | 'skip' | 'fail',
    { key, packageName, test }: { key: string; packageName: string; test: string | undefined },
  ): void {
    const output = this.#outputs.get(key)?.trim();
    this.#outputs.delete(key);
    const message = output === '' ? undefined : output;
    if (test === undefined) {
      this.#open.delete(packageName);
      const isOwn = how === 'fail' && !this.#failing.has(packageName);
      if (isOwn) this.#tests.fail({ testId: packageName, ...given({ message }) });
    } else if (how === 'fail') {
      this.#failing.add(packageName);
      this.#tests.fail({ testId: key, name: test, ...given({ message }) });
    } else if (how === 'pass') this.#tests.pass(key);
    else this.#tests.skip(key);
  }

  end(): TestReport {
    this.#lines.end();
    if (this.#events === 0) refuseReport('go', 'it has no events of "go test -json"');
    return this.#tests.report({ framework: 'go', isCut: this.#isTorn || this.#open.size > 0 });
  }
}

function parsed(line: string): JsonObject | undefined {
  try {
    const value = JSON.parse(line) as JsonValue;
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
