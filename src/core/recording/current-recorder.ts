import type { Recorder } from './recorder.ts';

/** A value that follows the flow of async code: the recorders that the code runs inside, the innermost first. */
export interface RecorderFlow {
  readonly get: () => readonly Recorder[] | undefined;
  readonly run: <R>(value: readonly Recorder[], body: () => R) => R;
}

/** The innermost thing that code runs inside, by the id of its event, and the run. */
export interface RecorderPlace {
  readonly cause?: string | undefined;
  readonly run?: string | undefined;
}

/** Facts about a recorder that its users do not see. */
interface RecorderFacts {
  /** Names the session, even among sessions of the same id in other namespaces and stores. */
  readonly history: string;
  /** Whether guards decide about its calls, as in a resume. */
  readonly isGuarded: boolean;
  /** Returns what the calling code runs inside; undefined outside of everything. */
  readonly place: () => RecorderPlace | undefined;
  /** The recorder whose run the program was in when it made this one. */
  readonly maker: WeakRef<Recorder> | undefined;
}

/** Recorders inside each other that code knows of; with more, the outermost ones are forgotten. */
const nestedMax = 16;

/** One flow for each way of following async code; every recorder of a program shares its platform's. */
const flows = new Map<unknown, RecorderFlow>();

const factsOf = new WeakMap<Recorder, RecorderFacts>();

/** Takes in a new recorder, and returns the flow that all recorders of a platform share. */
export function recorderFlow(
  createContext: <T>() => AsyncFlow<T>,
  recorder: Recorder,
  facts: Omit<RecorderFacts, 'maker'>,
): RecorderFlow {
  const flow = flows.get(createContext) ?? createContext<readonly Recorder[]>();
  flows.set(createContext, flow);
  const maker = currentRecorder();
  factsOf.set(recorder, { ...facts, maker: maker === undefined ? undefined : new WeakRef(maker) });
  return flow;
}

interface AsyncFlow<T> {
  readonly get: () => T | undefined;
  readonly run: <R>(value: T, body: () => R) => R;
}

/** Runs code inside a recorder. */
export function runInside<T>(flow: RecorderFlow, recorder: Recorder, body: () => T): T {
  const outer = flow.get() ?? [];
  if (outer[0] === recorder) return body();
  return flow.run([recorder, ...outer.filter((each) => each !== recorder)].slice(0, nestedMax), body);
}

/** Returns the recorder whose run, turn, task or call the code runs inside; undefined outside of all. */
export function currentRecorder(): Recorder | undefined {
  return recordersHere()[0];
}

/**
 * Returns the recorder that an adapter uses in place of the one it was set up with. A connection, a client or a tool
 * often outlives the run it was made for. Inside a resume of the same session its work belongs there: else it would
 * escape the branch, the effect policy and the budget. A recorder that the program made inside that run is meant as it
 * is. Where no guards decide about calls, the program means the recorder that it names.
 */
export function recorderHere(own: Recorder): Recorder {
  for (const here of recordersHere()) {
    if (here === own) return own;
    if (goesBefore(here, own)) return here;
  }
  return own;
}

/** Returns where the calling code is in a recorder; undefined outside of its runs and calls. */
export function placeIn(recorder: Recorder): RecorderPlace | undefined {
  return factsOf.get(recorder)?.place();
}

function recordersHere(): readonly Recorder[] {
  for (const flow of flows.values()) {
    const recorders = flow.get();
    if (recorders !== undefined) return recorders;
  }
  return [];
}

function goesBefore(here: Recorder, own: Recorder): boolean {
  const [a, b] = [factsOf.get(here), factsOf.get(own)];
  if (a === undefined || a.history !== b?.history || isMadeInside(own, here)) return false;
  return a.isGuarded;
}

function isMadeInside(recorder: Recorder, outer: Recorder): boolean {
  for (let each = makerOf(recorder); each !== undefined; each = makerOf(each)) if (each === outer) return true;
  return false;
}

const makerOf = (recorder: Recorder): Recorder | undefined => factsOf.get(recorder)?.maker?.deref();
