import { RepriseError } from '../../error.ts';
import { checkKeys, type KnownKeys, kindName, optionKeys } from '../../known-keys.ts';
import { checkLimit } from '../../limits.ts';
import { GoReport } from './go-report.ts';
import { JunitReport } from './junit-report.ts';
import { PytestReport } from './pytest-report.ts';
import { type ReportFormat, type ReportReader, refuseReport, type TestReport } from './report.ts';
import { TapReport } from './tap-report.ts';
import { VitestReport } from './vitest-report.ts';

/** How to read a report. */
export interface ReadReportOptions {
  /** The form of the report; found from its beginning if left out. */
  readonly format?: ReportFormat;
}

/** A report, or its pieces: strings, or bytes in UTF-8. */
export type ReportPieces = Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array> | Uint8Array;

const readers: Readonly<Record<ReportFormat, () => ReportReader>> = {
  vitest: () => new VitestReport(),
  junit: () => new JunitReport(),
  tap: () => new TapReport(),
  pytest: () => new PytestReport(),
  go: () => new GoReport(),
};

const reportKeys: KnownKeys = optionKeys<ReadReportOptions>('read a report', { format: 'text' }, 'a report');

/** Characters that are looked at to find the form of a report. */
const headMax = 4_096;

/**
 * Reads a report of tests, piece by piece: vitest and jest JSON, JUnit XML, TAP, the text of pytest, and `go test -json`.
 *
 * @example
 * ```ts
 * const report = await readTestReport(['{"success":true,"testResults":[]}']);
 * await session.coding.testRun({ command: 'npx vitest run', exitCode: 0, ...report });
 * ```
 */
export async function readTestReport(
  source: ReportPieces | string,
  options: ReadReportOptions = {},
): Promise<TestReport> {
  checkKeys(options, reportKeys);
  const { format } = options;
  if (format !== undefined && !Object.hasOwn(readers, format))
    throw new RepriseError('option.invalid', `Cannot read a report of the form ${JSON.stringify(format)}`, {
      hint: `It takes ${Object.keys(readers).join(', ')}, or none.`,
    });
  const decoder = new TextDecoder();
  let reader = format === undefined ? undefined : readers[format]();
  let [head, length] = ['', 0];
  for await (const piece of piecesOf(source)) {
    const text = typeof piece === 'string' ? piece : decoder.decode(piece, { stream: true });
    length += text.length;
    checkLimit('reportTextMax', length, 'read a report of tests');
    if (reader !== undefined) reader.write(text);
    else if ((head += text).length >= headMax) {
      reader = readers[formatOf(head)]();
      reader.write(head);
    }
  }
  const rest = decoder.decode();
  if (reader === undefined) {
    reader = readers[formatOf(head)]();
    reader.write(head);
  }
  reader.write(rest);
  return reader.end();
}

/** Returns the pieces of a source, each checked. */
async function* piecesOf(source: ReportPieces | string): AsyncIterable<string | Uint8Array> {
  if (typeof source === 'string' || source instanceof Uint8Array) return yield source;
  const isListed = [Symbol.iterator, Symbol.asyncIterator].some(
    (name) => typeof Reflect.get(Object(source), name) === 'function',
  );
  if (!isListed) refuseSource(source);
  for await (const piece of source)
    yield typeof piece === 'string' || piece instanceof Uint8Array ? piece : refuseSource(piece);
}

function refuseSource(value: unknown): never {
  throw new RepriseError('option.invalid', `Cannot read a report: ${kindName(value)} is neither a string nor bytes`, {
    hint: 'Pass a string, or strings and bytes as a list or a stream.',
  });
}

/** Finds the form of a report from its beginning. */
function formatOf(head: string): ReportFormat {
  const text = head.replace(/^\uFEFF/, '').trimStart();
  if (text === '') refuseReport('test', 'it is empty');
  if (text.startsWith('<')) return 'junit';
  if (/^\{\s*"(?:Time|Action|ImportPath)"/.test(text)) return 'go';
  if (text.startsWith('{')) return 'vitest';
  if (/^TAP version|^(?:not )?ok \d|^1\.\.\d|^# Subtest/m.test(text)) return 'tap';
  if (/^=+ test session starts|^=+ short test summary|in [\d.]+s\b|^[.FEsx]+\s+\[/m.test(text)) return 'pytest';
  return refuseReport('test', 'it has none of the known forms');
}
