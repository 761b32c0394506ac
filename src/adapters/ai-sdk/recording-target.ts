import type { LanguageModelV4Prompt } from '@ai-sdk/provider';
import { BoundedMap } from '../../core/bounded-map.ts';
import { given } from '../../core/json.ts';
import { recorderHere } from '../../core/recording/current-recorder.ts';
import type { Recorder } from '../../core/recording/recorder.ts';

/** Where the models and tools of one conversation are recorded. */
export interface RecordingTarget {
  readonly recorder: Recorder;
  readonly agent?: string;
  /** Runs code inside the run: the reader of a stream has a different async context from the code that started it. */
  readonly within: <T>(body: () => T) => T;
  /** Set if the target is one run: gets every request before it is sent, to record the messages that are new. */
  readonly onRequest?: (prompt: LanguageModelV4Prompt) => void;
}

/** The packages whose versions a recorded run names. */
export const packages: readonly string[] = ['ai', '@ai-sdk/provider'];

/** Returns a target that records in the context of the calling code. */
export function plainTarget(recorder: Recorder, agent: string | undefined): RecordingTarget {
  recorder.uses(...packages);
  return {
    get recorder() {
      return recorderHere(recorder);
    },
    within: (body) => body(),
    ...given({ agent }),
  };
}

/** How many tool calls are remembered for one recorder; the output of an older one is recorded in its short form. */
const rememberedMax = 10_000;

/** For each recorder, the tool calls whose tool makes its own model output. */
const shapedCalls = new WeakMap<Recorder, BoundedMap<string, true>>();

/** Remembers that the tool of a call makes its own model output. */
export function noteShaped(recorder: Recorder, toolCallId: string): void {
  const known = shapedCalls.get(recorder) ?? new BoundedMap(rememberedMax);
  shapedCalls.set(recorder, known.set(toolCallId, true));
}

/** Returns true if the tool of a call makes its own model output. */
export function isShaped(recorder: Recorder, toolCallId: string): boolean {
  return shapedCalls.get(recorder)?.has(toolCallId) === true;
}
