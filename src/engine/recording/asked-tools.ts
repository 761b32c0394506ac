import { BoundedMap } from '../../core/bounded-map.ts';
import { type Message, toolCallsIn } from '../../core/message/message.ts';
import type { RecorderScope } from './recorder-scope.ts';

/** How many tool calls are remembered at a time; an older one only loses the model call that asked for it. */
const rememberedMax = 10_000;

interface Asker {
  /** The turn of the model call. */
  readonly turn: number;
  /** The scope of the model call, if its adapter said that the tool call belongs inside it. */
  readonly scope?: RecorderScope;
}

/** Remembers which model call asked for which tool call, by the id of the tool call. */
export class AskedTools {
  readonly #askers = new BoundedMap<string, Asker>(rememberedMax);

  /** Remembers that the model call with this scope asked for a tool call, which belongs inside it. */
  noteInside(call: string, scope: RecorderScope, turn: number): void {
    this.#askers.set(call, { scope, turn });
  }

  /** Remembers the turn of the model call that said a message. */
  noteMessage(message: Message, turn: number): void {
    for (const { toolCallId } of toolCallsIn(message))
      this.#askers.set(toolCallId, { ...this.#askers.get(toolCallId), turn });
  }

  /** Returns the turn of the model call that asked for a tool call. */
  turnOf(call: string): number | undefined {
    return this.#askers.get(call)?.turn;
  }

  /**
   * Returns the scope that a tool call belongs in: that of the model call that asked for it, if both are in the same
   * run or the context of the run is lost, else the one it has. A person may approve a tool call only in a later run;
   * that run then makes the call.
   */
  scopeOf(call: string, own: RecorderScope | undefined): RecorderScope | undefined {
    const asker = this.#askers.get(call)?.scope;
    return asker !== undefined && (own?.run === undefined || own.run === asker.run) ? asker : own;
  }
}
