import type { JsonValue } from '../../core/json.ts';
import { limits } from '../../core/limits.ts';
import { cutValue } from '../../reading/looks/cut-value.ts';
import type { StudioRun } from '../../reading/looks/run-orders.ts';

/** Characters of one text of a run: of an answer, or of the arguments in a question. Its branch has the whole. */
const textMax = 65_536;

/** Writes a run as JSON text. Runs of one answer share the room of it, and each loses the end of what is too long. */
export function runText(run: StudioRun, share = 1): string {
  const value = JSON.parse(JSON.stringify(run)) as JsonValue;
  return JSON.stringify(cutValue(value, { text: textMax, whole: Math.floor(limits.shownBytesMax / share) }).value);
}
