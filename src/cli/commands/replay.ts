import { Option } from 'commander';
import type { Event } from '../../core/event.ts';
import type { EventFilter } from '../../core/filter.ts';
import { eventTypes } from '../../core/event-types.ts';
import { RepriseError } from '../../core/error.ts';
import { refText } from '../../core/ref.ts';
import { msBetween } from '../../core/time.ts';
import type { Session } from '../../engine/session.ts';
import type { ReplayOptions } from '../../engine/replay.ts';
import type { CommandSpec } from '../command.ts';
import type { Context } from '../context.ts';
import { done } from '../exit-code.ts';
import { filterOf, filterOptions } from '../filter-options.ts';
import { nearest } from '../nearest.ts';
import { EventTable } from '../render/event-table.ts';
import { headerLines } from '../render/history-header.ts';
import { list } from './list.ts';

/** `reprise replay`. */
export const replay: CommandSpec = {
  arguments: [{ name: '<ref>', about: 'where: session[/branch][@at], or "latest", or "list" for what there is' }],
  options: [
    ...filterOptions,
    new Option('--limit <n>', 'events at most, counted after filtering'),
    new Option('--tail <n>', 'the last events only'),
    new Option('--reverse', 'the last event first'),
    new Option('--follow', 'go on with what is appended, in any process, until Ctrl-C'),
    new Option('--speed <speed>', 'with the original pauses: 1x, 10x, or max for none').default('max'),
    new Option('--raw', 'every stored event, markers and taken-out events included'),
  ],
  examples: ['reprise replay latest', 'reprise replay demo --kind tool --outcome error', 'reprise replay demo/careful@12 --tail 5', 'reprise replay latest --follow --json'],
  run: async (context, [ref = 'latest'], options) => {
    if (ref === 'list') return list.run(context, [], { limit: '50' });
    const { session, ref: parsed, point } = await context.at(ref);
    const filter = filterOf(options);
    const request = requestOf(point, filter, options);
    if (context.out.json === 'object') await object(context, session, refText(parsed), point, request);
    else await stream(context, session, point, request, speedOf(String(options['speed'])));
    if (filter.types !== undefined) suggestTypes(context, filter.types);
    return done;
  },
};

function requestOf(point: string, filter: EventFilter, options: Readonly<Record<string, unknown>>): ReplayOptions {
  const tail = options['tail'] === undefined ? undefined : Number(options['tail']);
  const limit = tail ?? (options['limit'] === undefined ? undefined : Number(options['limit']));
  if (limit !== undefined && !(Number.isInteger(limit) && limit >= 0)) throw new RepriseError('filter.invalid', `Cannot limit to ${String(limit)} events`, { hint: 'Give a whole number from 0.' });
  return {
    at: point,
    filter,
    history: options['raw'] === true || options['follow'] === true ? 'raw' : 'view',
    direction: options['reverse'] === true || tail !== undefined ? 'backward' : 'forward',
    follow: options['follow'] === true,
    ...(limit === undefined ? {} : { limit }),
  };
}

function speedOf(text: string): number {
  if (text === 'max') return Number.POSITIVE_INFINITY;
  const factor = /^(\d+(?:\.\d+)?)x$/.exec(text)?.[1];
  if (factor === undefined || Number(factor) === 0) throw new RepriseError('filter.invalid', `Cannot replay at speed ${JSON.stringify(text)}`, { hint: 'Write 1x, 10x or max.' });
  return Number(factor);
}

/** The events in the order they are shown in: a tail is read backward and turned around. */
async function* ordered(session: Session, request: ReplayOptions, isTail: boolean): AsyncGenerator<Event> {
  if (!isTail) {
    yield* session.replay(request);
    return;
  }
  const events: Event[] = [];
  for await (const event of session.replay(request)) events.push(event);
  yield* events.reverse();
}

async function stream(context: Context, session: Session, point: string, request: ReplayOptions, speed: number): Promise<void> {
  const { out } = context;
  const start = (await firstEvent(session, point))?.time;
  const table = new EventTable(out, start);
  if (out.json === undefined) {
    await out.lines(await headerLines(out, session, point));
    await out.lines(table.head());
  }
  const isTail = request.direction === 'backward' && request.limit !== undefined;
  let before: string | undefined;
  let count = 0;
  for await (const event of ordered(session, request, isTail)) {
    if (before !== undefined && speed !== Number.POSITIVE_INFINITY) await pause(msBetween(before, event.time) / speed);
    before = event.time;
    count += 1;
    if (out.json === undefined) await out.line(table.line(event));
    else await out.value(event);
  }
  if (count === 0) out.say('No events match.');
  else if (request.follow !== true) out.next(`reprise show ${session.id}${point === 'main' ? '' : `/${point.split('@')[0]}`}@N`);
}

async function object(context: Context, session: Session, ref: string, point: string, request: ReplayOptions): Promise<void> {
  const events: Event[] = [];
  const { limit = Number.POSITIVE_INFINITY, ...all } = request;
  let totalMatched = 0;
  for await (const event of session.replay({ ...all, follow: false })) if (++totalMatched <= limit) events.push(event);
  await context.out.value({ ref, metadata: await session.metadata(point), fingerprint: await session.fingerprint(point), totalMatched, events });
}

async function firstEvent(session: Session, point: string): Promise<Event | undefined> {
  for await (const event of session.replay({ at: point, limit: 1 })) return event;
  return undefined;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, Math.min(Math.max(0, ms), 2_147_483_647)));

function suggestTypes({ out }: Context, types: readonly string[]): void {
  for (const type of types) {
    const near = Object.hasOwn(eventTypes, type) ? undefined : nearest(type, Object.keys(eventTypes));
    if (near !== undefined) out.say(`"${type}" is not a type Reprise writes. Did you mean "${near}"?`);
  }
}
