/** The space that histories take on disk, and how it grows. */
import type { EventDraft } from '../src/index.ts';
import { atMost, bytes, forTheRecord, type Row } from './measure.ts';
import { randomSource, textSource } from './workload.ts';
import { count, open, remove, settledBytes, type Workspace } from './workspace.ts';

/** Rows of disk space. */
export async function benchDisk(workspace: Workspace): Promise<Row[]> {
  const { events } = workspace.sizes;
  const path = await workspace.history(events);
  const measured = overheadOf(path, settledBytes(path) - tableBytes(path, 'snapshots%'));
  const small = await overheadOfSmall(workspace, 100);
  return [
    atMost({
      name: 'disk an event, against 1.3 × its canonical bytes + 160 B',
      value: measured.each / measured.allowed,
      limit: 1,
      unit: '×',
      detail: `${measured.each.toFixed(0)} B for ${measured.canonical.toFixed(0)} B of canonical JSON, ${measured.allowed.toFixed(0)} B allowed; ${(measured.each - measured.canonical).toFixed(0)} B of header, digest, salt, indexes and unused page space`,
      cause: 'ids, digest and time are stored as text, and the id a second time in its index.',
    }),
    forTheRecord(
      'disk of an event with 100 B of data, against the same rule',
      `${(small.each / small.allowed).toFixed(2)}×`,
      `${small.each.toFixed(0)} B where ${small.allowed.toFixed(0)} B would be allowed`,
    ),
  ];
}

interface Overhead {
  readonly each: number;
  readonly canonical: number;
  readonly allowed: number;
}

function overheadOf(path: string, size: number): Overhead {
  const rows = count(path, 'SELECT count(*) FROM events');
  const canonical = count(path, 'SELECT sum(octet_length(data)) FROM events') / rows;
  return { each: size / rows, canonical, allowed: 1.3 * canonical + 160 };
}

/** The pages of a table and its indexes. */
function tableBytes(path: string, like: string): number {
  return count(path, `SELECT coalesce(sum(pgsize), 0) FROM dbstat WHERE name LIKE '${like}'`);
}

async function overheadOfSmall(workspace: Workspace, length: number): Promise<Overhead> {
  const path = workspace.path('small.db');
  const text = textSource(randomSource(5));
  {
    await using opened = await open(path, 'process');
    for (let batch = 0; batch < (workspace.sizes.isQuick ? 2 : 20); batch++)
      await opened.session.append(
        Array.from({ length: 500 }, () => ({ type: 'note.added', data: { text: text(length - 11) } })),
      );
  }
  const overhead = overheadOf(path, settledBytes(path));
  remove(path);
  return overhead;
}

/** Rows of a session that records every model request whole. */
export async function benchGrowth(workspace: Workspace): Promise<Row[]> {
  const { turns } = workspace.sizes;
  const kinds = [
    ['as lists of messages', messageRequest],
    ['as raw bodies', bodyRequest],
  ] as const;
  const rows: Row[] = [];
  for (const [name, request] of kinds) {
    const once = await requestBytes(workspace, turns, request);
    const twice = await requestBytes(workspace, turns * 2, request);
    rows.push(
      atMost({
        name: `whole model requests ${name}, ${turns.toLocaleString('en')} → ${(turns * 2).toLocaleString('en')} turns`,
        value: twice.stored / once.stored,
        limit: 2.2,
        unit: '×',
        detail: `${bytes(once.stored)} → ${bytes(twice.stored)} stored for ${bytes(once.sent)} → ${bytes(twice.sent)} sent`,
        cause: 'something is stored that grows with every turn.',
      }),
    );
  }
  return rows;
}

type RequestMaker = (
  call: string,
  messages: readonly { readonly role: string; readonly content: string }[],
) => EventDraft;

const messageRequest: RequestMaker = (call, messages) => ({
  type: 'call.started',
  data: { call, kind: 'model', name: 'small-1', request: { messages: [...messages] } },
});

const bodyRequest: RequestMaker = (call, messages) => ({
  type: 'call.started',
  data: {
    call,
    kind: 'model',
    name: 'small-1',
    request: { body: JSON.stringify({ model: 'small-1', messages, temperature: 0 }) },
  },
});

async function requestBytes(
  workspace: Workspace,
  turns: number,
  request: RequestMaker,
): Promise<{ readonly stored: number; readonly sent: number }> {
  const path = workspace.path('requests.db');
  const text = textSource(randomSource(11));
  const messages: { role: string; content: string }[] = [{ role: 'system', content: text(2_000) }];
  let sent = 0;
  {
    await using opened = await open(path, 'process');
    for (let turn = 1; turn <= turns; turn++) {
      messages.push({ role: 'user', content: text(600) });
      sent += messages.reduce((sum, message) => sum + message.content.length, 0);
      const message = { role: 'assistant', content: text(600) };
      await opened.session.append([
        request(`c${turn}`, messages),
        {
          type: 'call.ended',
          data: { call: `c${turn}`, kind: 'model', name: 'small-1', outcome: 'ok', message },
        },
      ]);
      messages.push(message);
    }
  }
  const stored = settledBytes(path);
  remove(path);
  return { stored, sent };
}
