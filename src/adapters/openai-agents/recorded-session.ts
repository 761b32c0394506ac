import type { AgentInputItem, Session } from '@openai/agents';
import { recorderHere } from '../../core/recording/current-recorder.ts';
import type { Recorder } from '../../core/recording/recorder.ts';
import { isInsideRun } from './acting-agent.ts';
import { messagesFromItems } from './messages-from-items.ts';

/**
 * Returns a session that records its additions as messages, once. Items that the program itself adds become
 * `message.added`; items that the framework adds during a run are already in the recorded calls.
 *
 * @example
 * ```ts
 * await using recorder = await session.record();
 * const memory = recordSession(new MemorySession(), recorder);
 * await memory.addItems([{ role: 'user', content: 'My order is 7.' }]);
 * ```
 */
export function recordSession<T extends Session>(session: T, recorder: Recorder): T {
  const add = session.addItems.bind(session) as (...args: readonly unknown[]) => Promise<void>;
  const addItems = async (items: AgentInputItem[], ...rest: readonly unknown[]): Promise<void> => {
    await add(items, ...rest);
    if (!isInsideRun()) for (const message of messagesFromItems(items)) recorderHere(recorder).message(message);
  };
  // Sessions have private fields and optional methods, so everything else is the session's own.
  return new Proxy(session, {
    get: (target, key) => {
      if (key === 'addItems') return addItems;
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}
