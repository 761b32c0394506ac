import { type Context, createContext, Script } from 'node:vm';
import { propertyOf } from '../core/property.ts';

let context: Context | undefined;
let script: Script | undefined;

/**
 * Runs code for at most so many milliseconds; returns false if it was stopped. This stops even a regular expression,
 * which nothing else in the process can.
 */
export function runWithin(ms: number, body: () => void): boolean {
  context ??= createContext({});
  script ??= new Script('body()');
  context['body'] = body;
  try {
    script.runInContext(context, { timeout: ms });
    return true;
  } catch (error) {
    if (propertyOf(error, 'code') === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return false;
    throw error;
  } finally {
    context['body'] = undefined;
  }
}
