import { endsLikeSecret } from './secret-names.ts';

/** The traits of a string that its bytes hint at. */
export interface TextHint {
  /** False if the text surely has no secret that a built-in rule finds. */
  readonly mayHoldSecret: boolean;
  /** False if it surely has no number that JavaScript rounds. */
  readonly mayRound: boolean;
  /** Whether it contains `\\u`. */
  readonly hasEscapes: boolean;
}

const [secret, number, escaped] = [1, 2, 4];
const everything = secret | number | escaped;

/** Checks the bytes around a word; returns the traits that it shows, or 0. */
type Check = (bytes: Uint8Array, end: number) => number;

/** Returns a check of the bytes behind a word by which secrets begin or are named. */
const of =
  (holds: (bytes: Uint8Array, end: number) => boolean): Check =>
  (bytes, end) =>
    holds(bytes, end) ? secret : 0;

const space = 0x20;
const [at, backslash, quote, apostrophe] = [0x40, 0x5c, 0x22, 0x27];
const byteTable = (pattern: RegExp): Uint8Array =>
  Uint8Array.from({ length: 256 }, (_, code) => (code < 128 && pattern.test(String.fromCharCode(code)) ? 1 : 0));
const keyBytes = byteTable(/[\w-]/);
const nameBytes = byteTable(/[\w.-]/);
const tokenBytes = byteTable(/[A-Za-z0-9\-._~+/=]/);
const urlEnds = byteTable(/[\s"'`<>]/);
const nameFollowers = byteTable(/[\\"'\] \t=:>%,]/);

function runEnd(bytes: Uint8Array, from: number, table: Uint8Array, max: number): number {
  let end = from;
  while (end < bytes.length && end - from < max && table[bytes[end] ?? 0] === 1) end++;
  return end;
}

/** A key has at least so many characters behind its prefix. */
const key = (unitsMin: number): Check => of((bytes, end) => runEnd(bytes, end, keyBytes, unitsMin) - end === unitsMin);

const nameUnitsMax = 64;
const letterS = 0x73;

/** A name that ends here is a secret's, whatever comes before. */
const isName = (bytes: Uint8Array, end: number): boolean => {
  const last = runEnd(bytes, end, nameBytes, nameUnitsMax);
  if (last === bytes.length || nameFollowers[bytes[last] ?? 0] === 0) return last - end === nameUnitsMax;
  let first = end;
  while (first > 0 && last - first < nameUnitsMax && nameBytes[bytes[first - 1] ?? 0] === 1) first--;
  const run = String.fromCharCode(...bytes.subarray(first, last));
  // The first letters may belong to an escape, such as that of a newline.
  return endsLikeSecret(run) || endsLikeSecret(run.slice(1)) || endsLikeSecret(run.slice(2)) || isCoded(run);
};

/** `\u0041password` begins with the digits of an escape. */
const isCoded = (run: string): boolean => /^u[0-9a-f]{4}/i.test(run) && endsLikeSecret(run.slice(5));

/** The tokens of a model, which every response counts, are no secrets. */
const token = of((bytes, end) => bytes[end] !== letterS && isName(bytes, end));
const name = of(isName);

const urlUnitsMax = 1_200;

const url = of((bytes, end) => {
  for (let each = end; each < bytes.length && each - end < urlUnitsMax; each++) {
    if (bytes[each] === at) return true;
    if (urlEnds[bytes[each] ?? 0] === 1) return false;
  }
  return false;
});

const bearer = of((bytes, end) => {
  // In JSON text, other spaces are escapes.
  if (bytes[end] !== space) return bytes[end] === backslash;
  return bytes[end + 1] === space || runEnd(bytes, end + 1, tokenBytes, 8) - end === 9;
});

const program = of((bytes, end) => keyBytes[bytes[end] ?? 0] === 0);

/** An escape of a letter, digit or sign hides a word from the other checks. */
const escape: Check = (bytes, end) => {
  const digit = bytes[end + 2] ?? 0;
  const isSign = bytes[end] === zero && bytes[end + 1] === zero && digit >= 0x32 && digit <= 0x37;
  return isSign ? escaped | secret : escaped;
};

const option = of((bytes, end) => [quote, apostrophe, backslash].includes(bytes[end] ?? 0));

/** A number with an exponent, as a value: letters and digits of an id look alike. */
const exponent: Check = (bytes, end) => {
  let first = end - 1;
  while (first > 0 && digitBytes[bytes[first - 1] ?? 0] === 1) first--;
  while (first > 0 && numberStarts[bytes[first - 1] ?? 0] === 1) first--;
  return first === 0 || valueStarts[bytes[first - 1] ?? 0] === 1 ? number : 0;
};

const [zero, digitBytes, numberStarts, valueStarts] = [
  0x30,
  byteTable(/[\d.]/),
  byteTable(/[\s-]/),
  byteTable(/[:,[]/),
];

const always = of(() => true);

/** So many digits may be more than a number in JavaScript carries. */
const digitsMax = 16;

/**
 * The words, in small letters and with 0 for any digit or point, and the check of what follows. Every secret that a
 * built-in rule finds has one of them.
 */
const words: readonly (readonly [word: string, check: Check])[] = [
  ...['pass', 'pwd', 'secret', 'key', 'auth', 'cookie', 'credential', 'signature'].map((word) => [word, name] as const),
  ['token', token],
  ['sk-', key(20)],
  ['k_live_', key(16)],
  ['k_test_', key(16)],
  ...['p', 'o', 'u', 's', 'r'].map((kind) => [`gh${kind}_`, key(30)] as const),
  ['github_pat_', key(40)],
  ['glpat-', key(20)],
  ['xox', key(12)],
  ['akia', key(16)],
  ['asia', key(16)],
  ['aiza', key(35)],
  ['hf_', key(30)],
  ['npm_', key(36)],
  ['eyj', key(8)],
  ['-----begin ', always],
  ['://', url],
  [':\\', url],
  ['bearer', bearer],
  ['basic', bearer],
  ...['curl', 'mysql', 'mysqldump', 'mysqladmin', 'sshpass', 'redis-cli'].map((word) => [word, program] as const),
  ['\\u', escape],
  ['0'.repeat(digitsMax), () => number],
  ['0e', exponent],
  ['-u', option],
  ['-user', option],
];

/** A table of the states of a search for all words at once: the next state, times two, and 1 if a word ends there. */
interface Machine {
  readonly next: Uint16Array;
  readonly checks: readonly (readonly Check[])[];
}

function machineOf(): Machine {
  const nodes: { readonly to: Map<number, number>; fail: number; checks: Check[] }[] = [];
  const add = (): number => nodes.push({ to: new Map(), fail: 0, checks: [] }) - 1;
  add();
  const node = (state: number) => nodes[state] as (typeof nodes)[number];
  for (const [word, check] of words) {
    let state = 0;
    for (const char of word) {
      const code = char.charCodeAt(0);
      let next = node(state).to.get(code);
      if (next === undefined) {
        next = add();
        node(state).to.set(code, next);
      }
      state = next;
    }
    node(state).checks.push(check);
  }
  const nextOf = (from: number, code: number): number => {
    for (let state = from; ; state = node(state).fail) {
      const next = node(state).to.get(code);
      if (next !== undefined) return next;
      if (state === 0) return 0;
    }
  };
  const queue = [...node(0).to.values()];
  for (const state of queue)
    for (const [code, next] of node(state).to) {
      queue.push(next);
      node(next).fail = nextOf(node(state).fail, code);
      node(next).checks.push(...node(node(next).fail).checks);
    }
  const next = new Uint16Array(nodes.length * 256);
  for (const [state] of nodes.entries())
    for (let code = 0; code < 128; code++) {
      const to = nextOf(state, symbolOf(code));
      next[state * 256 + code] = to * 2 + (node(to).checks.length > 0 ? 1 : 0);
    }
  return { next, checks: nodes.map(({ checks }) => checks) };
}

/** Returns a byte as the words have it. */
function symbolOf(code: number): number {
  if (digitBytes[code] === 1) return zero;
  return code >= 0x41 && code <= 0x5a ? code + 0x20 : code;
}

let machine: Machine | undefined;

/** Returns the traits that the bytes of UTF-8 text hint at. It looks at each byte once, for all of them together. */
export function textHint(bytes: Uint8Array): TextHint {
  machine ??= machineOf();
  const { next, checks } = machine;
  let [state, found] = [0, 0];
  for (let index = 0; index < bytes.length; index++) {
    state = next[((state >> 1) << 8) | (bytes[index] as number)] as number;
    if ((state & 1) === 0 || found === everything) continue;
    for (const check of checks[state >> 1] ?? []) found |= check(bytes, index + 1);
  }
  return {
    mayHoldSecret: (found & secret) !== 0,
    mayRound: (found & number) !== 0,
    hasEscapes: (found & escaped) !== 0,
  };
}
