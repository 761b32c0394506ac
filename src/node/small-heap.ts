import { setFlagsFromString } from 'node:v8';

/**
 * Makes V8 collect garbage sooner instead of letting its heap grow: the young generation stays as large as it is, and the
 * old one grows to at most twice of what is alive. It is for a process of our own that has one long task, such as an
 * import. Nothing fails for want of memory: V8 reads both values when it decides how far to grow, and has no other limit.
 */
export function keepHeapSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString('--heap-growing-percent=100');
}
