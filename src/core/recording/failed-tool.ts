import type { JsonValue } from '../json.ts';

/** The failure of a tool that its framework told the model in its own words: `callTool` of an agent throws it. */
export class FailedTool extends Error {
  /** The words that the model gets. */
  readonly output: JsonValue;

  constructor(output: JsonValue, cause: Error) {
    super(cause.message, { cause });
    this.name = 'FailedTool';
    this.output = output;
  }
}
