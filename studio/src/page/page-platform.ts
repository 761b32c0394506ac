import type { Platform } from '../../../src/core/store/platform.ts';
import { sha256 } from './sha256.ts';

/** Returns the platform of an engine in a page. */
export function pagePlatform(): Platform {
  return {
    now: () => new Date().toISOString(),
    newId: () => crypto.randomUUID(),
    sha256,
    newSalt: () => btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(16)))).replace(/=+$/, ''),
    elapsedMs: () => performance.now(),
    startTimer: (ms, fire) => {
      const timer = setTimeout(fire, ms);
      return () => clearTimeout(timer);
    },
    createContext: () => ({ get: () => undefined, run: (_value, body) => body() }),
    runFacts: async () => ({}),
  };
}
