import type { NamespaceSize, TableSize } from '../../core/store/store-health.ts';
import { bytesText, countText } from '../../wording/amount.ts';
import { foldedLines, plain } from '../../wording/text.ts';
import type { DoctorAnswer } from '../answering/diagnosis.ts';
import type { Output, Style } from '../terminal/output.ts';
import { type Column, tableLines } from '../terminal/table.ts';

const labelColumns = 12;
/** How many namespaces are shown; `--json` has all of them. */
const namespacesMax = 10;

/** Describes the health of a store: its kind and size, what is wrong, and what to do about it. */
export function diagnosisLines(out: Output, found: DoctorAnswer): string[] {
  const { store, sessions, branches, events, verified } = found;
  const line = (label: string, text: string): string[] => labelled(out, label, text);
  return [
    ...line('reprise', `${found.reprise} on Node ${found.node}`),
    ...line('store', found.location),
    ...(store === null
      ? []
      : [
          ...line('kind', `${store.kind}, schema ${store.schema}, durability ${store.durability}`),
          ...line(
            'size',
            `${bytesText(store.bytes)}${found.freeBytes === null ? '' : `, ${bytesText(found.freeBytes)} free`}`,
          ),
        ]),
    ...(sessions === null
      ? []
      : line(
          'holds',
          `${amount(sessions, 'session')}, ${amount(branches ?? 0, 'branch', 'branches')}, ${amount(events ?? 0, 'event')} in namespace "${found.namespace}"`,
        )),
    ...(verified === null ? [] : line('verified', amount(verified, 'branch', 'branches'))),
    ...(store === null ? [] : store.facts.flatMap(({ name, text }) => line(name, text))),
    ...sizeLines(out, found),
    ...line('verdict', found.ok ? out.style('green', 'healthy') : out.style('red', 'needs attention')),
    ...found.findings.flatMap((finding) => adviceLines(out, finding, 'red')),
    ...found.advice.flatMap((advice) => adviceLines(out, advice, 'yellow')),
  ];
}

/** Puts a label and its text side by side. A verdict has its colors already, and is short. */
function labelled(out: Output, label: string, text: string): string[] {
  const folded = text.includes('\u001b') ? [text] : [...foldedLines(plain(text), out.columns - labelColumns)];
  return folded.map((part, index) => `${out.dim((index === 0 ? label : '').padEnd(labelColumns))}${part}`);
}

function adviceLines(
  out: Output,
  { message, todo }: { readonly message: string; readonly todo: string | null },
  style: Style,
): string[] {
  const folded = (text: string, columns: number): string[] =>
    text.split('\n').flatMap((line) => [...foldedLines(plain(line), out.columns - columns)]);
  return [
    ...folded(message, 2).map((part) => `  ${out.style(style, part)}`),
    ...(todo === null ? [] : folded(todo, 4).map((part, index) => `  ${index === 0 ? '→' : ' '} ${part}`)),
  ];
}

const tableColumns: readonly Column<TableSize>[] = [
  { title: 'TABLE', value: ({ name }) => plain(name) },
  { title: 'DATA', value: ({ bytes }) => bytesText(bytes), align: 'right' },
  { title: 'INDEXES', value: ({ indexBytes }) => bytesText(indexBytes), align: 'right' },
];

const namespaceColumns: readonly Column<NamespaceSize>[] = [
  { title: 'NAMESPACE', value: ({ name }) => plain(name), flex: 1, widthMin: 9 },
  { title: 'SESSIONS', value: ({ sessions }) => countText(sessions), align: 'right' },
  { title: 'PAYLOAD', value: ({ bytes }) => bytesText(bytes), align: 'right' },
];

function sizeLines(out: Output, { store }: DoctorAnswer): string[] {
  if (store === null || store.tables.length === 0) return [];
  const options = { columns: out.tableColumns, bold: (text: string) => out.bold(text) };
  const shown = store.namespaces.slice(0, namespacesMax);
  const left = store.namespaces.length - shown.length;
  return [
    '',
    ...tableLines(store.tables, tableColumns, options),
    ...(shown.length === 0 ? [] : ['', ...tableLines(shown, namespaceColumns, options)]),
    ...(left === 0 ? [] : [out.dim(`and ${amount(left, 'more namespace')} (--json has all of them)`)]),
    '',
  ];
}

const amount = (count: number, one: string, many = `${one}s`): string =>
  `${countText(count)} ${count === 1 ? one : many}`;
