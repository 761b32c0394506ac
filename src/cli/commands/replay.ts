import { Option } from 'commander';
import { RepriseError } from '../../core/error.ts';
import type { Event } from '../../core/event/event.ts';
import { given } from '../../core/json.ts';
import { pointText, refText } from '../../core/ref.ts';
import { msBetween } from '../../core/time.ts';
import { countEvents, type EventReading, type ReplayAnswer, readEvents } from '../../reading/answers/event-reading.ts';
import { historyFacts, quickEvents } from '../../reading/answers/history-facts.ts';
import { type Misspelling, misspellingsOf } from '../../reading/answers/nothing-found.ts';
import { eventsUpTo, type OpenRef } from '../../reading/open-ref.ts';
import { plain } from '../../wording/text.ts';
import type { CommandSpec } from '../command.ts';
import type { Context } from '../context.ts';
import { done } from '../exit-code.ts';
import { flagOption, numberOption, type OptionValues, textOption } from '../option-values.ts';
import { filterOf, filterOptions } from '../options/filter-options.ts';
import { wholeNumber } from '../options/number-option.ts';
import { printTransactions } from '../options/print-transactions.ts';
import { EventTable } from '../render/event-table.ts';
import { headerLines } from '../render/history-header.ts';
import { JsonList } from '../terminal/json-list.ts';
import { list } from './list.ts';

/** `reprise replay`. */
export const replay: CommandSpec = {
  arguments: [
    {
      name: '<ref>',
      about: 'history: session[/branch][@at], "latest", a run, or task:ID; "list" lists sessions',
    },
  ],
  options: [
    ...filterOptions,
    new Option('--limit <n>', 'print at most this many matching events').argParser(wholeNumber),
    new Option('--tail <n>', 'print only the last n matching events').argParser(wholeNumber).conflicts('limit'),
    new Option('--reverse', 'print the last event first').conflicts('follow'),
    new Option('--follow', 'keep printing events as any process appends them, until Ctrl-C'),
    new Option('--speed <speed>', 'keep the original pauses: 1x, 10x, or max for none').default('max'),
    new Option('--ops', 'print only state operations, one per line; --agent selects whose state').conflicts('task'),
    new Option('--verbose', 'with --ops: print whole values'),
    new Option('--raw', 'print every stored event, including markers and events taken out of the view'),
  ],
  examples: [
    'reprise replay latest',
    'reprise replay demo --kind tool --outcome error',
    'reprise replay demo/careful@12 --tail 5',
    'reprise replay demo --filter "name=refund,input.order=^7$"',
    'reprise replay latest --follow --json',
    'reprise replay task:T-1',
    'reprise replay orchestration --task T-1 --event-type verification.failed',
    'reprise replay demo --ops --agent support',
  ],
  run: async (context, [ref = 'latest'], options) => {
    if (ref === 'list') return list.run(context, [], options);
    const reading = readingOf(options);
    const speed = speedOf(textOption(options, 'speed') ?? 'max');
    const found = await context.at(ref);
    const placed = { ...reading, ...withinWork(reading, found) };
    if (flagOption(options, 'ops')) await printTransactions(context, found, placed, flagOption(options, 'verbose'));
    else if (context.out.json === 'object') await printObject(context, found, placed);
    else await printEvents(context, found, placed, speed);
    return done;
  },
};

/** Reads a run or a task alone, where that was named instead of a session. */
function withinWork(
  { filter, task, follows }: Pick<EventReading, 'filter' | 'task' | 'follows'>,
  { ref, point: end, work }: OpenRef,
): Pick<EventReading, 'point' | 'filter' | 'task'> {
  // To follow a run or a task is to follow its branch: the end so far is not the end.
  const point = work !== undefined && follows ? pointText({ branch: ref.branch }) : end;
  if (work === undefined) return { point, filter, ...given({ task }) };
  if ('task' in work) return { point, filter, task: task ?? work.task };
  return { point, filter: { run: work.run, ...filter }, ...given({ task }) };
}

function readingOf(options: OptionValues): Omit<EventReading, 'point'> {
  const follows = flagOption(options, 'follow');
  if (follows && options['json'] === 'object') {
    throw new RepriseError('filter.invalid', 'Cannot use --follow with --json=object: the object would never end', {
      hint: 'Use --json, which prints one event per line.',
    });
  }
  return {
    filter: filterOf(options),
    ...given({ task: textOption(options, 'task') }),
    history: flagOption(options, 'raw') || follows ? 'raw' : 'view',
    isReverse: flagOption(options, 'reverse'),
    follows,
    ...given({ limit: numberOption(options, 'limit'), tail: numberOption(options, 'tail') }),
  };
}

function speedOf(text: string): number {
  if (text === 'max') return Number.POSITIVE_INFINITY;
  const factor = Number(/^(\d{1,6}(?:\.\d{1,6})?)x$/.exec(text)?.[1] ?? 0);
  if (factor > 0) return factor;
  throw new RepriseError('filter.invalid', `Cannot replay at speed ${JSON.stringify(text)}`, {
    hint: 'Use 1x, 10x, 0.5x or max.',
  });
}

async function printEvents(context: Context, found: OpenRef, reading: EventReading, speed: number): Promise<void> {
  const { out } = context;
  const rows = out.json === undefined ? await openTable(context, found, reading) : undefined;
  let before: string | undefined;
  let last: Event | undefined;
  out.progress.begin('replay', eventsUpTo(found));
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

/** Prints the header, and returns functions that print the rows and the end. */
async function openTable({ out }: Context, found: OpenRef, reading: EventReading): Promise<Rows> {
  const { session, ref, point } = found;
  const facts = await historyFacts(found);
  const isQuick = facts.seq <= quickEvents;
  const fingerprint = isQuick ? await session.at(point).fingerprint() : `run: reprise fingerprint ${refText(ref)}`;
  await out.lines(headerLines(out, session.id, facts, fingerprint));
  const table = new EventTable(out, facts);
  await out.line(table.head());
  // Show the header at once; the first matching row may be far away.
  await out.flush();
  const end = async (last: Event | undefined): Promise<void> => {
    if (last === undefined) await sayNothing(out, found, reading);
    else out.next(`reprise show ${refText({ ...ref, at: { kind: 'seq', seq: last.seq } })}`);
  };
  return { show: (event) => out.line(table.line(event)), end };
}

async function sayNothing(out: Context['out'], { session }: OpenRef, reading: EventReading): Promise<void> {
  if (reading.limit === 0 || reading.tail === 0) return;
  const isFiltered = Object.keys(reading.filter).length > 0 || reading.task !== undefined;
  out.say(isFiltered ? 'No matching events.' : 'No events yet.');
  if (!isFiltered) return;
  for (const misspelling of await misspellingsOf(session, reading)) out.say(plain(correctionText(misspelling)));
}

function correctionText({ what, word, near }: Misspelling): string {
  const suggestion = near === undefined ? `--agent '~${word}'` : `"${near}"`;
  return `There is no ${what} "${word}" here. Did you mean ${suggestion}?`;
}

/** Prints a history as one object. It is written as it is read, so it may be larger than memory. */
async function printObject({ out }: Context, found: OpenRef, reading: EventReading): Promise<void> {
  const { session, ref, point } = found;
  const isCut = reading.limit !== undefined || reading.tail !== undefined;
  // The history is read, folded, and counted if not all of it is printed.
  out.progress.begin('replay', (isCut ? 3 : 2) * eventsUpTo(found));
  const first = { ref: refText(ref), metadata: await session.at(point).metadata() };
  const events = new JsonList<ReplayAnswer, 'events', 'ref' | 'metadata'>(out, first, 'events');
  let count = 0;
  for await (const event of readEvents(session, reading)) {
    await events.add(event);
    count += 1;
  }
  const totalMatched = isCut ? await countEvents(session, reading) : count;
  const fingerprint = await session.at(point).fingerprint();
  out.progress.end();
  await events.end({ totalMatched, fingerprint });
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, Math.min(ms, 2_147_483_647));
  });
}
