import { Option } from 'commander';
import { type SpaceAnswer, type SpaceRow, spaceUsed } from '../../reading/answers/space-used.ts';
import { bytesText, countText, plural } from '../../wording/amount.ts';
import { plain } from '../../wording/text.ts';
import type { CommandSpec } from '../command.ts';
import { done } from '../exit-code.ts';
import { flagOption, numberOption } from '../option-values.ts';
import { wholeNumber } from '../options/number-option.ts';
import type { Output } from '../terminal/output.ts';
import { type Column, tableLines } from '../terminal/table.ts';

const sessionsShown = 20;

/** `reprise du`. */
export const du: CommandSpec = {
  options: [
    new Option('--limit <n>', 'show at most this many sessions, the largest first')
      .default(sessionsShown)
      .argParser(wholeNumber),
    new Option('--all-namespaces', 'every namespace in the store'),
  ],
  examples: ['reprise du', 'reprise du --all-namespaces --limit 5', 'reprise du --json'],
  run: async (context, _values, options) => {
    const { out } = context;
    const reprise = await context.open();
    const rows = await spaceUsed(reprise, { allNamespaces: flagOption(options, 'allNamespaces') });
    const shown = rows.slice(0, numberOption(options, 'limit') ?? sessionsShown);
    if (out.json === 'lines') for (const row of shown) await out.value(row);
    else {
      const { bytes: storeBytes } = await reprise.health();
      if (out.json === 'object') await out.value({ storeBytes, sessions: shown } satisfies SpaceAnswer);
      else
        await out.lines(linesOf(out, { rows, shown, storeBytes, hasNamespaces: flagOption(options, 'allNamespaces') }));
    }
    return done;
  },
};

interface Measured {
  readonly rows: readonly SpaceRow[];
  readonly shown: readonly SpaceRow[];
  readonly storeBytes: number;
  readonly hasNamespaces: boolean;
}

function linesOf(out: Output, { rows, shown, storeBytes, hasNamespaces }: Measured): string[] {
  const sum = (count: (row: SpaceRow) => number): number => rows.reduce((total, row) => total + count(row), 0);
  const columns: readonly Column<SpaceRow>[] = [
    { title: 'SIZE', value: ({ bytes }) => bytesText(bytes), align: 'right' },
    { title: 'EVENTS', value: ({ eventBytes }) => bytesText(eventBytes), align: 'right' },
    { title: 'PARTS', value: ({ partBytes }) => bytesText(partBytes), align: 'right' },
    { title: 'SNAPSHOTS', value: ({ snapshotBytes }) => bytesText(snapshotBytes), align: 'right' },
    { title: 'BRANCHES', value: ({ branches }) => countText(branches), align: 'right', optional: 1 },
    ...(hasNamespaces ? [{ title: 'NAMESPACE', value: ({ namespace }: SpaceRow) => plain(namespace) }] : []),
    { title: 'SESSION', value: ({ session }) => plain(session), flex: 1, widthMin: 14 },
  ];
  const left = rows.length - shown.length;
  const total = [
    `${bytesText(sum(({ bytes }) => bytes))} in ${plural(rows.length, 'session')}`,
    `events ${bytesText(sum(({ eventBytes }) => eventBytes))}`,
    `parts ${bytesText(sum(({ partBytes }) => partBytes))}`,
    `snapshots ${bytesText(sum(({ snapshotBytes }) => snapshotBytes))}`,
    `the store with its indexes ${bytesText(storeBytes)}`,
  ];
  return [
    ...tableLines(shown, columns, { columns: out.tableColumns, bold: (text) => out.bold(text) }),
    ...(left > 0 ? [out.dim(`and ${plural(left, 'smaller session')}`)] : []),
    '',
    total.join(', '),
  ];
}
