import { given } from '../../json.ts';
import { limits } from '../../limits.ts';
import { errorTypeIn, type ReportReader, ReportTests, refuseReport, type TestReport } from './report.ts';
import { type XmlListener, XmlReader } from './xml-reader.ts';

type Attributes = ReadonlyMap<string, string>;

/** The test case that is being read. */
interface OpenCase {
  readonly testId: string;
  readonly file: string | undefined;
  readonly name: string;
  outcome: 'passed' | 'failed' | 'skipped' | 'flaky';
  errorType: string | undefined;
  message: string | undefined;
  text: string;
}

const failing: ReadonlySet<string> = new Set(['failure', 'error']);
const flaky: ReadonlySet<string> = new Set(['flakyFailure', 'flakyError']);

/** Reads JUnit XML, as vitest, node, pytest, Maven and many others write it. */
export class JunitReport implements ReportReader, XmlListener {
  readonly #xml = new XmlReader(this);
  readonly #tests = new ReportTests();
  readonly #suites: string[] = [];
  #framework: string | undefined;
  #case: OpenCase | undefined;
  /** The element whose text describes a failure; deeper elements belong to it. */
  #describing: string | undefined;
  #isReport = false;

  write(text: string): void {
    this.#xml.write(text);
  }

  open(name: string, attributes: Attributes): void {
    if (name === 'testsuites' || name === 'testsuite') {
      this.#isReport = true;
      const said = attributes.get('name') ?? '';
      if (said.startsWith('pytest')) this.#framework = 'pytest';
      else if (said.startsWith('vitest')) this.#framework = 'vitest';
      else if (said.startsWith('jest')) this.#framework = 'jest';
      if (name === 'testsuite') this.#suites.push(said);
    } else if (!this.#isReport) refuseReport('JUnit', `its root is "${name}", so it is not a report of tests`);
    else if (name === 'testcase') this.#case = this.#begin(attributes);
    else if (this.#case !== undefined) this.#describe(this.#case, name, attributes);
  }

  text(text: string): void {
    const held = this.#case;
    if (held !== undefined && this.#describing !== undefined && held.text.length < limits.errorTextMax)
      held.text += text;
  }

  close(name: string): void {
    if (name === 'testsuite') this.#suites.pop();
    if (name === this.#describing) this.#describing = undefined;
    if (name !== 'testcase' || this.#case === undefined) return;
    this.#note(this.#case);
    this.#case = undefined;
  }

  #begin(attributes: Attributes): OpenCase {
    const name = attributes.get('name') ?? '';
    const place = this.#framework === 'pytest' ? pytestPlace(attributes, name) : this.#placeOf(attributes, name);
    return { ...place, name, outcome: 'passed', errorType: undefined, message: undefined, text: '' };
  }

  #placeOf(attributes: Attributes, name: string): Pick<OpenCase, 'testId' | 'file'> {
    const given = attributes.get('file');
    const classname = attributes.get('classname') ?? '';
    const file = given ?? (looksLikeFile(classname) ? classname : undefined);
    if (file === undefined) return { testId: classname === '' ? name : `${classname}::${name}`, file };
    // A file that could not be loaded is listed as a test with its name.
    if (looksLikeFile(name) && (file === name || file.endsWith(`/${name}`))) return { testId: file, file };
    const suites = given === undefined ? [] : this.#suites.filter((suite) => suite !== '' && suite !== file);
    return { testId: `${file}::${[...suites, name].join(' > ')}`, file };
  }

  #describe(held: OpenCase, name: string, attributes: Attributes): void {
    if (this.#describing !== undefined) return;
    if (name === 'skipped') held.outcome = held.outcome === 'passed' ? 'skipped' : held.outcome;
    if (!failing.has(name) && !flaky.has(name)) return;
    held.outcome = failing.has(name) ? 'failed' : held.outcome === 'failed' ? 'failed' : 'flaky';
    held.errorType ??= attributes.get('type');
    held.message ??= attributes.get('message');
    this.#describing = name;
  }

  #note(held: OpenCase): void {
    const { testId, file, name, outcome } = held;
    if (outcome === 'skipped') return this.#tests.skip(testId);
    if (outcome !== 'failed') this.#tests.pass(testId);
    if (outcome === 'passed') return;
    const message = (held.message ?? held.text).trim();
    const type = held.errorType === 'testCodeFailure' ? undefined : held.errorType;
    const errorType = type ?? errorTypeIn(message);
    this.#tests.fail({ testId, name, ...given({ file, errorType, message: message === '' ? undefined : message }) });
  }

  end(): TestReport {
    this.#xml.end();
    return this.#tests.report({ framework: this.#framework, isCut: this.#tests.isEmpty });
  }
}

const looksLikeFile = (text: string): boolean => /^[^\s:]+\.(?:[cm]?[jt]sx?|py|rb|go|rs|vue|svelte)$/.test(text);

/** Returns the id that pytest itself prints: its reports name the module with dots, and a class after it. */
function pytestPlace(attributes: Attributes, name: string): Pick<OpenCase, 'testId' | 'file'> {
  const classname = attributes.get('classname') ?? '';
  // A module that could not be collected has no class name.
  if (classname === '') return { testId: moduleFile(name.split('.')), file: moduleFile(name.split('.')) };
  const parts = classname.split('.');
  const first = parts.findIndex((part, index) => index > 0 && /^[A-Z]/.test(part));
  const [modules, classes] = first < 0 ? [parts, []] : [parts.slice(0, first), parts.slice(first)];
  const file = attributes.get('file') ?? moduleFile(modules);
  return { testId: [file, ...classes, name].join('::'), file };
}

const moduleFile = (parts: readonly string[]): string => `${parts.join('/')}.py`;
