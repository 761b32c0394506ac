import type { NamespaceSize, StoreHealth } from '../../../core/store/store-health.ts';
import type { Shelf } from '../shelf.ts';
import { listBranches } from './branch.ts';

/** Reports on a store in memory: it is as sound as the process, and ends with it. */
export function health(shelf: Shelf): StoreHealth {
  return {
    kind: 'memory',
    location: 'memory:',
    schema: '0',
    bytes: process.memoryUsage().heapUsed,
    durability: 'none',
    facts: [{ name: 'kept', text: 'as long as this process runs' }],
    tables: [],
    namespaces: namespaceSizes(shelf),
    advice: [],
    problems: [],
  };
}

function namespaceSizes(shelf: Shelf): NamespaceSize[] {
  const sizes = [...shelf.namespaces].map(([name, sessions]) => {
    const branches = [...sessions.keys()].flatMap((session) => listBranches(shelf, { namespace: name, session }));
    return { name, sessions: sessions.size, bytes: branches.reduce((sum, { bytes }) => sum + bytes, 0) };
  });
  return sizes.sort((left, right) => right.bytes - left.bytes);
}
