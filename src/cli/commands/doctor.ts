import { Option } from 'commander';
import type { CommandSpec } from '../command.ts';
import { type Diagnosis, diagnose } from '../diagnosis.ts';
import { done, no } from '../exit-code.ts';
import type { Output } from '../output.ts';
import { bytesText, countText } from '../render/amount.ts';
import { plain } from '../render/text.ts';

/** `reprise doctor`. */
export const doctor: CommandSpec = {
  options: [new Option('--verify', 'also recompute every digest of every branch')],
  examples: ['reprise doctor', 'reprise doctor --verify', 'reprise doctor --store sqlite:other.db --json'],
  run: async (context, _values, options) => {
    const { out } = context;
    const verify = options['verify'] === true;
    const onTotal = (events: number): void => out.progress.begin('doctor', events);
    const found = await diagnose(context, { verify, onTotal }).finally(() => out.progress.end());
    if (out.json !== undefined) await out.value(found);
    else {
      await out.lines(linesOf(out, found));
      if (found.ok && (found.sessions ?? 0) > 0) out.next('reprise list');
    }
    return found.ok ? done : no;
  },
};

function linesOf(out: Output, found: Diagnosis): string[] {
  const line = (label: string, text: string): string => `${out.dim(label.padEnd(12))}${text}`;
  const { store, sessions, branches, events, verified } = found;
  const verdict = found.ok ? out.style('green', 'sound') : out.style('red', 'needs attention');
  return [
    line('reprise', `${found.reprise} on Node ${found.node}`),
    line('store', plain(found.location)),
    ...(store === null
      ? []
      : [
          line('kind', `${store.kind}, schema ${store.schema}, durability ${store.durability}`),
          line(
            'size',
            `${bytesText(store.bytes)}${found.freeBytes === null ? '' : `, ${bytesText(found.freeBytes)} free`}`,
          ),
        ]),
    ...(sessions === null
      ? []
      : [
          line(
            'holds',
            `${amount(sessions, 'session')}, ${amount(branches ?? 0, 'branch', 'branches')}, ${amount(events ?? 0, 'event')} in namespace "${plain(found.namespace)}"`,
          ),
        ]),
    ...(verified === null ? [] : [line('verified', amount(verified, 'branch', 'branches'))]),
    line('verdict', verdict),
    ...found.findings.flatMap(({ message, todo }) => [
      `  ${out.style('red', plain(message))}`,
      ...(todo === null ? [] : [`  → ${plain(todo)}`]),
    ]),
  ];
}

const amount = (count: number, one: string, many = `${one}s`): string =>
  `${countText(count)} ${count === 1 ? one : many}`;
