import { given } from '../../json.ts';
import { limits } from '../../limits.ts';
import { errorTypeIn, LineCutter, type ReportReader, ReportTests, refuseReport, type TestReport } from './report.ts';

/** The result that is being read, with the lines of its description. */
interface OpenResult {
  readonly level: number;
  readonly isOk: boolean;
  readonly names: readonly string[];
  readonly isSkipped: boolean;
  readonly hadChildren: boolean;
  readonly details: Map<string, string>;
}

const resultLine = /^( *)(not )?ok\b(?: +(\d+))?(?: +-)? ?(.*)$/;
const directive = / # (SKIP|TODO)\b.*$/i;
const indent = 4;

/**
 * Reads TAP, as `node --test --test-reporter=tap` and others write it. Node does not say in which file a test passed, so
 * its report lists no passed tests, and one with skipped tests does not speak by silence.
 */
export class TapReport implements ReportReader {
  readonly #tests = new ReportTests();
  readonly #lines = new LineCutter((line) => this.#line(line));
  /** The names of the enclosing tests, by level, and how many results each level has had. */
  readonly #names: string[] = [];
  readonly #counts: number[] = [];
  #open: OpenResult | undefined;
  #block: { readonly key: string; readonly margin: number } | undefined;
  #isInDetails = false;
  #planned: number | undefined;
  #results = 0;
  #isBailed = false;
  #isNode = false;
  #hasTap = false;

  write(text: string): void {
    this.#lines.write(text);
  }

  #line(line: string): void {
    if (this.#isInDetails) return this.#detail(line);
    if (/^ *---\s*$/.test(line) && this.#open !== undefined) {
      this.#isInDetails = true;
      return;
    }
    const subtest = /^( *)# Subtest: (.*)$/.exec(line);
    if (subtest !== null) {
      this.#flush();
      this.#names[(subtest[1] ?? '').length / indent] = unescaped(subtest[2] ?? '');
      return;
    }
    if (line.startsWith('TAP version')) this.#hasTap = true;
    if (line.startsWith('Bail out!')) this.#isBailed = true;
    const plan = /^1\.\.(\d+)/.exec(line);
    if (plan !== null) this.#planned = Number(plan[1]);
    const found = resultLine.exec(line);
    if (found !== null && !line.startsWith('#')) this.#result(found);
  }

  #result([, margin = '', not, , rest = '']: RegExpExecArray): void {
    this.#flush();
    this.#hasTap = true;
    const level = Math.floor(margin.length / indent);
    const name = unescaped(rest.replace(directive, ''));
    const hadChildren = (this.#counts[level + 1] ?? 0) > 0;
    this.#counts[level + 1] = 0;
    this.#counts[level] = (this.#counts[level] ?? 0) + 1;
    if (level === 0) this.#results += 1;
    const isSkipped = directive.test(rest);
    const names = [...this.#names.slice(0, level), name];
    this.#open = { level, isOk: not === undefined, names, isSkipped, hadChildren, details: new Map() };
  }

  #detail(line: string): void {
    const details = this.#open?.details;
    if (/^ *\.\.\.\s*$/.test(line)) {
      this.#isInDetails = false;
      this.#block = undefined;
      return;
    }
    const margin = line.length - line.trimStart().length;
    const block = this.#block;
    if (block !== undefined && (margin > block.margin || line.trim() === '')) {
      const held = details?.get(block.key) ?? '';
      if (held.length < limits.errorTextMax) details?.set(block.key, `${held}${held === '' ? '' : '\n'}${line.trim()}`);
      return;
    }
    this.#block = undefined;
    const [, key = '', value = ''] = /^ *(\w+): ?(.*)$/.exec(line) ?? [];
    if (key === 'duration_ms') this.#isNode = true;
    if (/^[|>][-+]?$/.test(value)) this.#block = { key, margin };
    else if (key !== '') details?.set(key, value.replace(/^'(.*)'$/, '$1').replaceAll("''", "'"));
  }

  /** Notes the result whose description is complete. */
  #flush(): void {
    const held = this.#open;
    this.#open = undefined;
    if (held === undefined) return;
    const { details, names, isOk, isSkipped, hadChildren } = held;
    const isSuite =
      details.get('type') === 'suite' ||
      (hadChildren && (isOk || details.get('failureType') === 'subtestsFailed' || details.size === 0));
    if (isSuite) return;
    const file = details.get('location')?.replace(/:\d+:\d+$/, '');
    const name = names.join(' > ');
    const isLoad = file !== undefined && details.has('exitCode') && file.endsWith(names.at(-1) ?? '\n');
    const testId = isLoad ? file : file === undefined ? name : `${file}::${name}`;
    if (isSkipped) return this.#tests.skip(testId);
    if (isOk) return this.#tests.pass(testId);
    const message = details.get('error');
    const errorType = details.get('name') ?? (message === undefined ? undefined : errorTypeIn(message));
    this.#tests.fail({ testId, name, ...given({ file, errorType, message }) });
  }

  end(): TestReport {
    this.#lines.end();
    this.#flush();
    if (!this.#hasTap) refuseReport('TAP', 'it has no results');
    const isCut = this.#isInDetails || this.#isBailed || this.#planned !== this.#topResults || this.#tests.isEmpty;
    const framework = this.#isNode ? 'node' : undefined;
    return this.#tests.report({
      framework,
      isCut: isCut || (this.#isNode && this.#tests.hasSkipped),
      listsPassed: !this.#isNode,
    });
  }

  /** Node counts a file that could not be loaded in its plan; a plan of fewer than the results is not torn. */
  get #topResults(): number | undefined {
    return this.#planned !== undefined && this.#results >= this.#planned ? this.#planned : this.#results;
  }
}

const unescaped = (text: string): string => text.replace(/\\(.)/g, '$1').trim();
