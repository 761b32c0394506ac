import type { Outcome } from '../../core/event/event.ts';
import { given } from '../../core/json.ts';
import { outcomeOfError } from '../../core/recording/error-record.ts';
import type { OpenCall, Recorder } from '../../core/recording/recorder.ts';

/** Tool calls that are remembered for one recorder; an older one only loses the model call as its cause. */
const notedCallsMax = 10_000;

/** What models and tools of one conversation tell to, and what they have to know of each other. */
export interface Lane {
  readonly recorder: Recorder;
  readonly agent?: string;
  /** Runs code inside the run; the context of a stream's reader is another one than that of who began it. */
  readonly within: <T>(body: () => T) => T;
  /** There if the lane is one run's: is handed every request before it is made, to tell which messages are new. */
  readonly onRequest?: (prompt: readonly object[]) => void;
}

/** What is recorded here, as its versions are told. */
export const packages: readonly string[] = ['ai', '@ai-sdk/provider'];

/** A lane in the context of whoever calls. */
export function plainLane(recorder: Recorder, agent: string | undefined): Lane {
  recorder.uses(...packages);
  return { recorder, within: (body) => body(), ...given({ agent }) };
}

/** Of one recorder: which model call asked for a tool, and which tools made their own model output. */
interface Notes {
  readonly askedBy: Map<string, { readonly call: OpenCall; readonly lane: Lane }>;
  readonly shaped: Map<string, true>;
}

const notesOf = new WeakMap<Recorder, Notes>();

function notes(recorder: Recorder): Notes {
  const known = notesOf.get(recorder);
  if (known !== undefined) return known;
  const made: Notes = { askedBy: new Map(), shaped: new Map() };
  notesOf.set(recorder, made);
  return made;
}

function note<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > notedCallsMax && oldest !== undefined) map.delete(oldest);
}

/** Remembers the model call that asked for a tool. */
export function noteAsked(lane: Lane, toolCallId: string, call: OpenCall): void {
  note(notes(lane.recorder).askedBy, toolCallId, { call, lane });
}

/**
 * Runs code as part of the model call that asked for a tool, if that was in the same run: a tool that someone had to
 * approve first is executed by a later one.
 */
export function withinAsker<T>(lane: Lane, toolCallId: string, body: () => T): T {
  const asker = notes(lane.recorder).askedBy.get(toolCallId);
  const isOurs = asker !== undefined && (asker.lane === lane || lane.onRequest === undefined);
  return isOurs ? asker.call.within(body) : lane.within(body);
}

/** Remembers that a tool says itself what a model is told of its output. */
export function noteShaped(recorder: Recorder, toolCallId: string): void {
  note(notes(recorder).shaped, toolCallId, true);
}

/** Whether the tool of a call said itself what a model is told. */
export function isShaped(recorder: Recorder, toolCallId: string): boolean {
  return notes(recorder).shaped.has(toolCallId);
}

/** How something ended that threw; whatever is thrown because a signal said stop was stopped. */
export function outcomeOf(error: unknown, signal: AbortSignal | undefined): Outcome {
  const outcome = outcomeOfError(error);
  return outcome === 'error' && signal?.aborted === true ? 'aborted' : outcome;
}
