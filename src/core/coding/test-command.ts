import { BoundedMap } from '../bounded-map.ts';

/** The tests that a run was asked for: all of them; files, folders and test ids; or every id with a prefix. */
export type Selection = 'all' | readonly string[] | { readonly prefix: string };

/** Everything that the words of a test command say about the tests it runs. */
export interface TestCommand {
  /** The tests it asks for; undefined if its words do not say. */
  readonly selection: Selection | undefined;
  /** Whether it may stop at a failure, before the other tests have run. */
  readonly mayStop: boolean;
  /** Whether it only lists tests or shows help, so that no test runs. */
  readonly runsNone: boolean;
  /** Whether it succeeds even when it finds no test. */
  readonly allowsNone: boolean;
  /** Whether its exit code may be that of something else: a shell runs more after the tests, or alongside them. */
  readonly hidesExitCode: boolean;
}

/** The words of one framework's command line. */
interface Framework {
  readonly programs: ReadonlySet<string>;
  /** Short options that choose tests other than by path: such a run says nothing about a test that it does not list. */
  readonly filters: RegExp;
  /** More options that stop at a failure. */
  readonly stops?: RegExp;
  /** Options whose value is the next word, and no place of tests. */
  readonly valued: ReadonlySet<string>;
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));
/** Long options that do so, whatever the framework. */
const longFilter =
  /^--(?:.*(?:pattern|select|ignore|exclude|changed|shard|project|related|failures|failed|since|tags|filter|skip|match|grep)|lf|sw|only.*|.*-only|stepwise.*|lastcommit|config|dir|root|rootdir|workspace|pyargs)(?:=|$)/i;
/** Options that stop at a failure, whatever the framework. */
const anyStop = /^(?:-x|--exitfirst|--maxfail|--bail|--?failfast|--fail-fast|--stepwise|--sw)(?:=|\d|$)/;

const frameworks: ReadonlyMap<string, Framework> = new Map([
  [
    'pytest',
    {
      programs: words('pytest py.test'),
      filters: /^-[vqslx]*[kmc]/,
      stops: /^-[vqsl]*x/,
      valued: words(
        '-n -p -o -W -r --cov --cov-report --cov-config --junitxml --junit-xml --basetemp --confcutdir --tb --color --durations --timeout --reruns --numprocesses --dist --log-level',
      ),
    },
  ],
  [
    'vitest',
    {
      programs: words('vitest vitest.mjs'),
      filters: /^-[trc](?:=|$)/,
      valued: words('--reporter --outputFile --pool --retry --mode --environment --maxWorkers --testTimeout'),
    },
  ],
  [
    'jest',
    {
      programs: words('jest jest.js'),
      filters: /^-[tofc](?:=|$)/,
      stops: /^-b$/,
      valued: words(
        '-w --outputFile --maxWorkers --reporters --coverageDirectory --coverageReporters --testTimeout --env',
      ),
    },
  ],
  [
    'node',
    {
      programs: words('node'),
      filters: /^--watch/,
      valued: words(
        '-r -C --import --require --loader --conditions --env-file --test-reporter --test-reporter-destination --test-concurrency --test-timeout',
      ),
    },
  ],
]);

const noTests =
  /^(?:--collect-only|--co|--version|-V|--help|-h|--fixtures|--markers|--listTests|--showConfig|--clearCache|--cache-show|--setup-plan)(?:=|$)/;
/** Words that may come before the program that runs the tests. */
const launchers: ReadonlySet<string> = words(
  'npx npm pnpm pnpx yarn bun bunx exec dlx x run uv uvx poetry pipenv pdm hatch rye tox nox coverage node python python3 py env time nice timeout command sudo sh bash zsh dash cross-env dotenv c8 nyc xvfb-run',
);
/** Options of launchers that run the tests in a different folder. */
const movesFolder = /^(?:-C|-w|-F|--prefix|--cwd|--dir|--directory|--project|--workspaces?|--filter|--chdir)(?:=|$)/;
const redirection = /(?:\d*>>?&\d|&>>?\s*\S+|\d*>>?\s*[^\s&|;]+|\d*<\s*[^\s&|;<]+)/g;
const moreCommands = /[;|\n`]|(?:^|[^&])&(?:[^&]|$)|(?:^|[\s&(])!\s/;

/** The commands that were read last: a session runs few of them, many times each. */
const readBefore = new BoundedMap<string, TestCommand>(32);

/** Reads the words of a test command. */
export function readTestCommand(command: string, framework: string | undefined): TestCommand {
  const key = `${framework ?? ''}\n${command}`;
  const known = readBefore.get(key);
  if (known !== undefined) return known;
  const read = readWords(command, framework);
  readBefore.set(key, read);
  return read;
}

function readWords(command: string, framework: string | undefined): TestCommand {
  const plain = command.replace(redirection, ' ');
  const parts = plain.split('&&').map(wordsOf);
  const known = frameworks.get(framework ?? '');
  const runs = parts.map((part) => (known === undefined ? -1 : programAt(part, known.programs)));
  const at = runs.findIndex((index) => index >= 0);
  const all = parts.flat();
  const given = at < 0 ? all : (parts[at] ?? []).slice((runs[at] ?? 0) + 1);
  const isOne = runs.filter((index) => index >= 0).length < 2;
  const isMoved = parts.slice(0, Math.max(0, at)).some(([word = '']) => /^\(*(?:cd|pushd)$/.test(word));
  const before = (parts[at] ?? []).slice(0, Math.max(0, runs[at] ?? 0));
  const isPlain = known !== undefined && at >= 0 && isOne && !isMoved && !before.some((word) => movesFolder.test(word));
  return {
    selection: isPlain ? placesIn(given, known) : undefined,
    mayStop: !isOne || given.some((word) => anyStop.test(word) || known?.stops?.test(word) === true),
    runsNone: at >= 0 && given.some((word) => noTests.test(word)),
    allowsNone: all.some((word) => /^--pass-?with-?no-?tests$/i.test(word)),
    hidesExitCode: moreCommands.test(plain),
  };
}

function wordsOf(text: string): string[] {
  return text
    .trim()
    .split(/\s+/)
    .filter((word) => word !== '')
    .map((word) => word.replace(/^(['"])(.*)\1$/, '$2'));
}

/** Returns the position of the program that runs the tests; -1 if it is only mentioned. */
function programAt(part: readonly string[], programs: ReadonlySet<string>): number {
  const at = part.findIndex((word) => programs.has(baseName(word)));
  return part.slice(0, Math.max(0, at)).every(isLauncher) ? at : -1;
}

function isLauncher(word: string): boolean {
  return (
    /^-|^\w+=|^\d+(?:\.\d+)?[smhd]?$/.test(word) ||
    launchers.has(baseName(word)) ||
    /^python[\d.]+$/.test(baseName(word))
  );
}

const baseName = (word: string): string => word.slice(word.lastIndexOf('/') + 1);

/** Returns the places that a framework's words ask for; undefined if they choose tests in a different way. */
function placesIn(given: readonly string[], { filters, valued }: Framework): Selection | undefined {
  const isFilter = (word: string): boolean => filters.test(word) || longFilter.test(word);
  if (given.some((word, index) => isFilter(word) && !valued.has(given[index - 1] ?? ''))) return undefined;
  const places = given
    .filter((word, index) => !word.startsWith('-') && word !== 'run' && !valued.has(given[index - 1] ?? ''))
    .map((word) => word.replace(/^(?:\.\/)+(?=.)/, ''));
  return places.length === 0 || places.includes('.') || places.includes('./') ? 'all' : places;
}

/** Returns the test framework that a command runs; undefined if its words do not say. */
export function frameworkIn(command: string): string | undefined {
  const parts = command.split(/&&|[;|\n]/).map(wordsOf);
  const runs = (name: string): boolean =>
    parts.some((part) => programAt(part, frameworks.get(name)?.programs ?? new Set()) >= 0);
  const known = ['pytest', 'vitest', 'jest'].find(runs);
  if (known !== undefined) return known;
  if (runs('node') && parts.flat().includes('--test')) return 'node';
  return parts.some((part) => part.join(' ').startsWith('go test')) ? 'go' : undefined;
}

/** Programs that run the tasks of a project, one of which may be its tests. */
const taskRunners: ReadonlySet<string> = words(
  'npm pnpm yarn bun make just task cargo mix rake gradle gradlew mvn mvnw dotnet swift deno composer bundle tox nox ninja bazel sbt lein zig ctest phpunit rspec mocha ava tap',
);

/** Returns true if a command is known to run tests: by its framework, or by a task that is named so. */
export function runsTests(command: string): boolean {
  if (frameworkIn(command) !== undefined) return true;
  return command.split(/&&|[;|\n]/).some((part) => {
    const [program = '', ...rest] = wordsOf(part).filter((word) => !/^\w+=/.test(word));
    const name = baseName(program).replace(/\.(?:sh|cmd|bat)$/, '');
    if (/^(?:run-?)?(?:tests?|check)$/.test(name)) return true;
    return (
      taskRunners.has(name) && rest.some((word) => /^(?:t|tests?|check|verify)$|^:?tests?[:-]|[:-]tests?$/.test(word))
    );
  });
}
