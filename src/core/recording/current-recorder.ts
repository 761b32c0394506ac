import type { Recorder } from './recorder.ts';

/** A value that follows the flow of async code: which recorder the code runs inside. */
export interface RecorderFlow {
  readonly get: () => Recorder | undefined;
  readonly run: <R>(value: Recorder, body: () => R) => R;
}

/** One flow for each way of following async code; every recorder of a program shares its platform's. */
const flows = new Map<unknown, RecorderFlow>();

/** Returns the flow that all recorders of a platform share. */
export function recorderFlow(createContext: <T>() => AsyncFlow<T>): RecorderFlow {
  const flow = flows.get(createContext) ?? createContext<Recorder>();
  flows.set(createContext, flow);
  return flow;
}

interface AsyncFlow<T> {
  readonly get: () => T | undefined;
  readonly run: <R>(value: T, body: () => R) => R;
}

/** Returns the recorder whose run, turn, task or call the code runs inside; undefined outside of all. */
export function currentRecorder(): Recorder | undefined {
  for (const flow of flows.values()) {
    const recorder = flow.get();
    if (recorder !== undefined) return recorder;
  }
  return undefined;
}
