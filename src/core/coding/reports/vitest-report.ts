import { messageOf } from '../../error.ts';
import { arrayAt, given, isObject, type JsonObject, type JsonValue, stringAt } from '../../json.ts';
import { checkLimit, limits } from '../../limits.ts';
import { errorTypeIn, type ReportReader, ReportTests, refuseReport, type TestReport } from './report.ts';

const [quote, backslash, openObject, closeObject, openArray, closeArray, colon] = [34, 92, 123, 125, 91, 93, 58];

/**
 * Reads the JSON report of vitest or jest. It is one object, whose `testResults` may be long: each item of that list is
 * parsed alone, and the rest as a whole.
 */
export class VitestReport implements ReportReader {
  readonly #tests = new ReportTests();
  #framework = 'vitest';
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  #isInList = false;
  #hasList = false;
  /** The text outside of the list, and the text of the item that is being read. */
  #outer = '';
  #item = '';
  #string = '';
  #key = '';

  write(text: string): void {
    let start = 0;
    for (let at = 0; at < text.length; at++) {
      if (this.#isInString) {
        at = this.#skipString(text, at);
        continue;
      }
      const code = text.charCodeAt(at);
      if (code === quote) {
        this.#isInString = true;
        this.#string = '';
      } else if (code === colon) this.#key = this.#string;
      else if (code === openObject || code === openArray) start = this.#open(text, start, at, code);
      else if (code === closeObject || code === closeArray) start = this.#close(text, start, at);
    }
    this.#keep(text.slice(start));
  }

  /** Goes to the end of a string, or to the end of the text; returns the last place it looked at. */
  #skipString(text: string, from: number): number {
    let at = from;
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (this.#isEscaped) this.#isEscaped = false;
      else if (code === backslash) this.#isEscaped = true;
      else if (code === quote) {
        this.#isInString = false;
        break;
      }
    }
    // Only the keys of the outermost object matter.
    if (this.#depth === 1 && this.#string.length < keyLengthMax) this.#string += text.slice(from, at + 1);
    return at;
  }

  /** Goes one level deeper; returns from where text has not been kept yet. */
  #open(text: string, start: number, at: number, code: number): number {
    this.#depth += 1;
    checkLimit('jsonDepthMax', this.#depth, 'read a JSON report');
    if (this.#isInList && this.#depth === itemDepth) return at;
    if (this.#isInList || code !== openArray || this.#depth !== listDepth || this.#key !== 'testResults"') return start;
    this.#keep(text.slice(start, at + 1));
    this.#isInList = true;
    this.#hasList = true;
    return at + 1;
  }

  #close(text: string, start: number, at: number): number {
    this.#depth -= 1;
    if (!this.#isInList || this.#depth > listDepth) return start;
    if (this.#depth === listDepth) {
      this.#keep(text.slice(start, at + 1));
      this.#readItem();
      return at + 1;
    }
    this.#isInList = false;
    return at;
  }

  #keep(text: string): void {
    if (!this.#isInList) this.#outer += text;
    else if (this.#depth > listDepth || text.startsWith('{') || this.#item !== '') this.#item += text;
    checkLimit('reportEntryMax', Math.max(this.#outer.length, this.#item.length), 'read a JSON report');
  }

  #readItem(): void {
    const item = parsed(this.#item.slice(this.#item.indexOf('{')));
    this.#item = '';
    if (isObject(item)) this.#noteFile(item);
  }

  #noteFile(file: JsonObject): void {
    const path = stringAt(file, 'name') ?? stringAt(file, 'testFilePath') ?? '';
    const results = (arrayAt(file, 'assertionResults') ?? []).filter(isObject);
    for (const result of results) this.#noteTest(path, result);
    const message = stringAt(file, 'message') ?? '';
    const hasFailure = results.some(({ status }) => status === 'failed');
    if (file['status'] === 'failed' && !hasFailure && path !== '')
      this.#tests.fail({ testId: path, file: path, ...described(message) });
  }

  #noteTest(file: string, result: JsonObject): void {
    if (Object.hasOwn(result, 'numPassingAsserts') || Object.hasOwn(result, 'invocations')) this.#framework = 'jest';
    const titles = (arrayAt(result, 'ancestorTitles') ?? []).filter((title) => title !== '').map(String);
    const name = [...titles, stringAt(result, 'title') ?? stringAt(result, 'fullName') ?? ''].join(' > ');
    const testId = `${file}::${name}`;
    const messages = [...(arrayAt(result, 'failureMessages') ?? []), ...(arrayAt(result, 'retryReasons') ?? [])].map(
      String,
    );
    const status = result['status'];
    // A test that passed after a retry keeps the messages of its failures.
    if (status === 'failed' || (status === 'passed' && messages.length > 0))
      this.#tests.fail({ testId, file, name, ...described(messages.join('\n')) });
    if (status === 'passed') this.#tests.pass(testId);
    else if (status !== 'failed') this.#tests.skip(testId);
  }

  end(): TestReport {
    if (this.#depth !== 0 || this.#isInString || this.#isInList) refuseReport('JSON', 'it ends before it is complete');
    const outer = parsed(this.#outer);
    if (!isObject(outer) || !this.#hasList)
      refuseReport('JSON', 'it has no "testResults", so no vitest or jest wrote it');
    // A run that collected no test says nothing about any.
    const isCut = outer['wasInterrupted'] === true || this.#tests.isEmpty;
    return this.#tests.report({ framework: this.#framework, isCut });
  }
}

const listDepth = 2;
const itemDepth = 3;
const keyLengthMax = 64;

function described(message: string): { readonly errorType?: string; readonly message?: string } {
  const text = withoutStack(message).slice(0, limits.errorTextMax);
  return given({ errorType: errorTypeIn(text), message: text === '' ? undefined : text });
}

/** Drops the frames of a stack: they name files of the machine, and the message says what is wrong. */
function withoutStack(message: string): string {
  return message
    .split('\n')
    .filter((line) => !/^\s+at /.test(line))
    .join('\n')
    .trim();
}

function parsed(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch (error) {
    return refuseReport('JSON', messageOf(error), error);
  }
}
