import type { StoreHealth } from '../../../core/ports.ts';

/** What there is to say of memory: it is as sound as the process, and gone with it. */
export function health(): StoreHealth {
  return {
    kind: 'memory',
    location: 'memory:',
    schema: '0',
    bytes: process.memoryUsage().heapUsed,
    durability: 'none',
    problems: [],
  };
}
