/** The two rules of coding sessions, slow and obvious: when a failing test is resolved, and what a model is shown. */

interface ModelRun {
  readonly command: string;
  readonly exitCode: number | null;
  readonly framework?: string;
  readonly failures?: readonly string[];
  readonly passed?: readonly string[];
  readonly skipped?: readonly string[];
  readonly selection?: 'all' | readonly string[];
  readonly finished?: boolean;
}

/** One thing that happened: a test run, a patch of a file, or a call. */
export interface ModelEvent {
  readonly run?: ModelRun;
  readonly patch?: string;
  readonly call?: { readonly kind: string; readonly effect?: string; readonly isTestCommand?: boolean };
}

export interface ModelFailure {
  status: string;
  how: string;
  readonly failedAt: number;
  readonly command: string;
  readonly reactivated: number;
}

const namedTests: Readonly<Record<string, RegExp>> = {
  pytest: /(^|\s)(-k|-m|--deselect|--lf|--ff|--last-failed|--failed-first)(\s|=|$)/,
  vitest: /(^|\s)(-t|--testNamePattern|--changed)(\s|=|$)/,
  jest: /(^|\s)(-t|--testNamePattern|-o|--onlyFailures)(\s|=|$)/,
  node: /--test-name-pattern|--test-only/,
};
const bails = /(^|\s)(-x|--exitfirst|--maxfail|--bail|-failfast)(\s|=|\d|$)/;
const fileOf = (test: string): string => test.split('::')[0] ?? test;
const within = (test: string, place: string): boolean =>
  test === place ||
  fileOf(test) === place ||
  test.startsWith(`${place.replace(/\/$/, '')}/`) ||
  test.startsWith(`${place}::`);

function selectionOf({ selection, command, framework }: ModelRun): 'all' | readonly string[] | undefined {
  if (selection !== undefined) return selection;
  const named = namedTests[framework ?? ''];
  if (named === undefined || named.test(command)) return undefined;
  const all = command.split(/\s+/);
  const words = all.slice(all.findLastIndex((word) => /(pytest|vitest|jest|node)$/.test(word)) + 1);
  const places = words.filter((word) => !word.startsWith('-') && word !== 'run');
  return places.length === 0 ? 'all' : places;
}

function isFinished({ finished, exitCode, framework, command, failures = [] }: ModelRun): boolean {
  if (finished !== undefined) return finished;
  if (exitCode === null || exitCode >= 128 || (framework === 'pytest' && exitCode >= 2)) return false;
  return exitCode === 0 || (failures.length > 0 && !bails.test(command));
}

/** Returns every test that has ever failed. */
export function modelFailures(history: readonly ModelEvent[]): Map<string, ModelFailure> {
  const tests = new Map<string, ModelFailure>();
  history.forEach(({ run }, at) => {
    if (run === undefined) return;
    const failed = new Set(run.failures ?? []);
    const passed = new Set(run.passed ?? []);
    const skipped = new Set(run.skipped ?? []);
    const unloaded = [...failed].filter((test) => !test.includes('::') && /\.\w+$/.test(test));
    const selection = selectionOf(run);
    const couldChange = (since: number): boolean => history.slice(since + 1, at).some(mayChange);
    for (const test of failed) {
      const known = tests.get(test);
      const reactivated = (known?.reactivated ?? 0) + (known !== undefined && known.status !== 'active' ? 1 : 0);
      const isBoth = passed.has(test);
      const said = { status: isBoth ? 'flaky' : 'active', how: isBoth ? 'both in one run' : 'failed' };
      tests.set(test, { ...said, failedAt: at, command: run.command, reactivated });
    }
    for (const [test, known] of tests) {
      if (failed.has(test) || skipped.has(test)) continue;
      const settle = (how: string): unknown =>
        Object.assign(known, { status: couldChange(known.failedAt) ? 'resolved' : 'flaky', how });
      if (passed.has(test)) {
        if (known.status !== 'resolved') settle('passed');
        continue;
      }
      if (known.status === 'resolved' || known.status === 'missing' || !isFinished(run)) continue;
      if (unloaded.some((file) => fileOf(test) === file)) continue;
      const isCovered =
        selection === 'all' ||
        (selection === undefined ? run.command === known.command : selection.some((place) => within(test, place)));
      if (!isCovered) continue;
      if (run.passed !== undefined) Object.assign(known, { status: 'missing', how: 'not listed' });
      else if (known.status === 'active') settle('absent');
    }
  });
  return tests;
}

function mayChange({ patch, call }: ModelEvent): boolean {
  if (patch !== undefined) return true;
  if (call === undefined || call.isTestCommand === true) return false;
  return call.kind === 'process' || call.effect === 'unknown' || call.effect === 'irreversible';
}

export interface ModelRecord {
  readonly id: string;
  readonly group: string;
  readonly text: string;
  readonly required: boolean;
  readonly event: string;
  readonly seq: number;
}

export interface ModelContext {
  readonly text: string;
  readonly tokens: number;
  readonly overBy: number;
  readonly explained: readonly { readonly id: string; readonly why: string }[];
}

const order = [
  'goal',
  'constraints',
  'open_failures',
  'failure_details',
  'soft_constraints',
  'decisions',
  'unsure_tests',
  'touched_files',
  'procedures',
  'tool_evidence',
  'resolved_failure_notes',
  'generic_facts',
];
const count = (line: string): number => Math.ceil(Buffer.byteLength(line) / 4);
const itemTokensMax = 400;
const pieces = (text: string): string[] =>
  text.length < 16 ? [] : Array.from({ length: text.length - 15 }, (_, at) => text.slice(at, at + 16));

function cut(text: string): { readonly text: string; readonly isCut: boolean } {
  if (count(`${text}\n`) <= itemTokensMax) return { text, isCut: false };
  let end = text.length;
  while (count(`${text.slice(0, end)} … (cut)\n`) > itemTokensMax) end = Math.floor(end * 0.9);
  return { text: `${text.slice(0, end)} … (cut)`, isCut: true };
}

/** Returns what a model is shown of some records. */
export function modelContext(
  records: readonly ModelRecord[],
  { budget, risks }: { readonly budget: number; readonly risks: readonly { content: string; event?: string }[] },
): ModelContext {
  const rank = ({ group }: ModelRecord): number => order.indexOf(group);
  const sorted = [...records].sort((a, b) => rank(a) - rank(b) || b.seq - a.seq || (a.id < b.id ? -1 : 1));
  const explained: { id: string; why: string; needs?: number; had?: number }[] = [];
  const lines = new Map<string, string[]>();
  let [used, isFull] = [0, false];
  const isTainted = (record: ModelRecord): boolean =>
    risks.some(
      ({ content, event }) =>
        (event !== undefined && record.event === event) || pieces(content).some((piece) => record.text.includes(piece)),
    );
  const take = (record: ModelRecord): void => {
    if (isTainted(record)) return void explained.push({ id: record.id, why: 'quarantined' });
    const { text, isCut } = record.required ? { text: record.text, isCut: false } : cut(record.text);
    const needs = count(`- ${text}\n`) + (lines.has(record.group) ? 0 : count(`## ${record.group}\n`));
    if (!record.required && (isFull || used + needs > budget)) {
      isFull = true;
      return void explained.push({ id: record.id, why: 'no room', needs, had: Math.max(0, budget - used) });
    }
    used += needs;
    lines.set(record.group, [...(lines.get(record.group) ?? []), `- ${text}\n`]);
    explained.push({ id: record.id, why: isCut ? 'cut' : 'in' });
  };
  for (const record of sorted) if (record.required) take(record);
  for (const record of sorted) if (!record.required) take(record);
  const groups = [...lines].sort(([a], [b]) => order.indexOf(a) - order.indexOf(b));
  const text = groups.map(([group, list]) => `## ${group}\n${list.join('')}`).join('');
  return { text, tokens: used, overBy: Math.max(0, used - budget), explained };
}
