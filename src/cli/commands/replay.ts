import { Option } from 'commander';
import { RepriseError } from '../../core/error.ts';
import type { Event } from '../../core/event/event.ts';
import { given } from '../../core/json.ts';
import { refText } from '../../core/ref.ts';
import { msBetween } from '../../core/time.ts';
import type { Session } from '../../engine/session.ts';
import { historyFacts } from '../../reading/history-facts.ts';
import { plain } from '../../wording/text.ts';
import { countEvents, type EventReading, readEvents } from '../answering/event-reading.ts';
import { nothingFound } from '../answering/nothing-found.ts';
import type { CommandSpec } from '../command.ts';
import type { Context, Found } from '../context.ts';
import { done } from '../exit-code.ts';
import { filterOf, filterOptions } from '../options/filter-options.ts';
import { wholeNumber } from '../options/number-option.ts';
import { printOperations } from '../options/operation-replay.ts';
import { EventTable } from '../render/event-table.ts';
import { headerLines } from '../render/history-header.ts';
import { list } from './list.ts';

/** `reprise replay`. */
export const replay: CommandSpec = {
  arguments: [{ name: '<ref>', about: 'where: session[/branch][@at], or "latest", or "list" for what there is' }],
  options: [
    ...filterOptions,
    new Option('--limit <n>', 'events at most, counted after filtering').argParser(wholeNumber),
    new Option('--tail <n>', 'the last events only').argParser(wholeNumber).conflicts('limit'),
    new Option('--reverse', 'the last event first').conflicts('follow'),
    new Option('--follow', 'go on with what is appended, in any process, until Ctrl-C'),
    new Option('--speed <speed>', 'with the original pauses: 1x, 10x, or max for none').default('max'),
    new Option('--ops', 'only what was done to state, an operation a line; --agent is whose state'),
    new Option('--verbose', 'with --ops: whole values'),
    new Option('--raw', 'every stored event, markers and taken-out events included'),
  ],
  examples: [
    'reprise replay latest',
    'reprise replay demo --kind tool --outcome error',
    'reprise replay demo/careful@12 --tail 5',
    'reprise replay demo --filter "name=refund,input.order=^7$"',
    'reprise replay latest --follow --json',
    'reprise replay demo --ops --agent support',
  ],
  run: async (context, [ref = 'latest'], options) => {
    if (ref === 'list') return list.run(context, [], options);
    const reading = readingOf(options);
    const speed = speedOf(String(options['speed'] ?? 'max'));
    const found = await context.at(ref);
    const placed = { ...reading, point: found.point };
    if (options['ops'] === true) await printOperations(context, found, placed, options['verbose'] === true);
    else if (context.out.json === 'object') await printObject(context, found, placed);
    else await printEvents(context, found, placed, speed);
    return done;
  },
};

function readingOf(options: Readonly<Record<string, unknown>>): Omit<EventReading, 'point'> {
  const follows = options['follow'] === true;
  if (follows && options['json'] === 'object') {
    throw new RepriseError('filter.invalid', 'Cannot follow as one object: it would never end', {
      hint: 'Use --json, which is one event a line.',
    });
  }
  const { limit, tail } = options as { readonly limit?: number; readonly tail?: number };
  return {
    filter: filterOf(options),
    history: options['raw'] === true || follows ? 'raw' : 'view',
    isReverse: options['reverse'] === true,
    follows,
    ...given({ limit, tail }),
  };
}

function speedOf(text: string): number {
  if (text === 'max') return Number.POSITIVE_INFINITY;
  const factor = Number(/^(\d{1,6}(?:\.\d{1,6})?)x$/.exec(text)?.[1] ?? 0);
  if (factor > 0) return factor;
  throw new RepriseError('filter.invalid', `Cannot replay at speed ${JSON.stringify(text)}`, {
    hint: 'Write 1x, 10x, 0.5x or max.',
  });
}

async function printEvents(context: Context, found: Found, reading: EventReading, speed: number): Promise<void> {
  const { out } = context;
  const rows = out.json === undefined ? await openTable(context, found, reading) : undefined;
  let before: string | undefined;
  let last: Event | undefined;
  out.progress.begin('replay', (await found.session.locate(found.point)).seq);
  for await (const event of readEvents(found.session, reading)) {
    if (before !== undefined && Number.isFinite(speed)) await pause(Math.abs(msBetween(before, event.time)) / speed);
    before = event.time;
    last = event;
    await (rows === undefined ? out.value(event) : rows.show(event));
  }
  out.progress.end();
  await rows?.end(last);
}

interface Rows {
  readonly show: (event: Event) => Promise<void>;
  readonly end: (last: Event | undefined) => Promise<void>;
}

// A fold of so many events takes a few milliseconds; a longer one would keep the first rows waiting.
const quickEvents = 2_000;

/** Prints the header and gives what prints the rows and the end. */
async function openTable({ out }: Context, found: Found, reading: EventReading): Promise<Rows> {
  const { session, ref, point } = found;
  const facts = await historyFacts(session, ref.branch, point);
  const isQuick = facts.seq <= quickEvents;
  const fingerprint = isQuick ? await session.fingerprint(point) : `see: reprise fingerprint ${refText(ref)}`;
  await out.lines(headerLines(out, session.id, facts, fingerprint));
  const table = new EventTable(out, facts);
  await out.line(table.head());
  // It is there at once; the first row that matches may be far away.
  await out.flush();
  const end = async (last: Event | undefined): Promise<void> => {
    if (last === undefined) await sayNothing(out, session, reading);
    else out.next(`reprise show ${refText({ ...ref, at: { kind: 'seq', seq: last.seq } })}`);
  };
  return { show: (event) => out.line(table.line(event)), end };
}

async function sayNothing(out: Context['out'], session: Session, reading: EventReading): Promise<void> {
  if (reading.limit === 0 || reading.tail === 0) return;
  for (const line of await nothingFound(session, reading)) out.say(plain(line));
}

/** One object for everything. It is written as it is read, so that it may be larger than memory. */
async function printObject({ out }: Context, { session, ref, point }: Found, reading: EventReading): Promise<void> {
  const isCut = reading.limit !== undefined || reading.tail !== undefined;
  const { seq } = await session.locate(point);
  // Read, counted where not all of it is shown, and folded.
  out.progress.begin('replay', (isCut ? 3 : 2) * seq);
  const metadata = await session.metadata(point);
  await out.write(`${JSON.stringify({ ref: refText(ref), metadata }).slice(0, -1)},"events":[`);
  let count = 0;
  for await (const event of readEvents(session, reading))
    await out.write(`${count++ === 0 ? '' : ','}${JSON.stringify(event)}`);
  const totalMatched = isCut ? await countEvents(session, reading) : count;
  const fingerprint = await session.fingerprint(point);
  out.progress.end();
  await out.line(`],${JSON.stringify({ totalMatched, fingerprint }).slice(1)}`);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, Math.min(ms, 2_147_483_647));
  });
}
