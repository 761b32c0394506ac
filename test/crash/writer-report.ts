import { defineProjection, type Projection } from '../../src/index.ts';

/** One line of what the writer says. */
export type Line =
  | { readonly kind: 'opened' | 'looked' }
  | {
      readonly kind: 'appended';
      readonly branch: string;
      readonly events: readonly { readonly seq: number; readonly id: string; readonly digest: string }[];
    }
  | { readonly kind: 'forking'; readonly branch: string; readonly events: number }
  | { readonly kind: 'forked'; readonly branch: string; readonly head: number }
  | { readonly kind: 'erasing'; readonly text: string }
  | { readonly kind: 'erased'; readonly text: string; readonly seq: number };

/** Whole lines only: the last one may be cut where the writer was killed. */
export function linesOf(output: string): Line[] {
  return output
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Line);
}

/** A text that is nowhere else. */
export function secretOf(name: string): string {
  return `the secret numbered ${name} that nobody may find`;
}

/** A fold with a snapshot, whose value says whether anything was left out or taken twice. */
export const tally: Projection<Record<string, number>> = defineProjection({
  name: 'tally',
  version: '1',
  history: 'view',
  initial: (): Record<string, number> => ({}),
  apply: (value, event) => {
    value[event.type] = (value[event.type] ?? 0) + 1;
    value['sum'] = ((value['sum'] ?? 0) * 31 + event.seq) % 1_000_003;
    return value;
  },
});
