import type { HandlerContext, ServiceImpl } from '@connectrpc/connect';
import { RepriseError } from '../../core/error.ts';
import { parseFilter } from '../../core/event/filter.ts';
import { given } from '../../core/json.ts';
import type { Ref } from '../../core/ref.ts';
import type { AppendOptions, FollowOptions, ReplayOptions } from '../../core/session/session-log.ts';
import type { Session } from '../../engine/session.ts';
import { errorToWire } from '../../wire/error-codec.ts';
import type {
  AppendEventsRequest,
  ReplayEventsRequest,
  SessionService,
  StreamAppendsRequest,
} from '../../wire/generated/reprise/v1/session_pb.ts';
import { beatMs } from '../../wire/protocol.ts';
import { fromWhole, fromWholeOr } from '../../wire/whole-number.ts';
import { batched } from '../http/batches.ts';
import { objectIn } from '../http/json-text.ts';
import { endOf, eventTexts, replayed } from './answer-texts.ts';
import type { VerbParts } from './verb-parts.ts';

/** Names a place in a request. */
interface RefName {
  readonly namespace: string;
  readonly ref: string;
}

type AtRef = (context: HandlerContext, name: RefName) => Promise<{ readonly session: Session; readonly ref: Ref }>;

/** Returns the calls that append and replay. The guard of the caller's store decides about rights. */
export function sessionService(parts: VerbParts): ServiceImpl<typeof SessionService> {
  const at: AtRef = async (context, { namespace, ref: text }) => {
    const reprise = parts.repriseOf(context, namespace);
    const ref = await reprise.resolve(text);
    return { session: await reprise.session(ref.session), ref };
  };
  return {
    async appendEvents(request, context) {
      return { events: await appendTexts(at, context, request) };
    },
    streamAppends: (requests, context) => appendBatches(at, context, requests),
    async *replayEvents(request, context) {
      const { session, ref } = await at(context, request);
      const asked = replayOptions(request);
      const signal = endOf(context.signal, parts.draining, asked);
      const pages = eventTexts(replayed(session, ref, { ...asked, signal }), request.leaveOut);
      for await (const events of batched(pages, beatMs)) yield { events: [...events] };
    },
  };
}

/** Returns the options of a replay. The verb itself checks the words. */
function replayOptions(request: ReplayEventsRequest): FollowOptions {
  const { history, direction, after, through, since, until, filter, limit, follow } = request;
  return {
    follow,
    ...given({
      history: (history === '' ? undefined : history) as ReplayOptions['history'],
      direction: (direction === '' ? undefined : direction) as ReplayOptions['direction'],
      after: fromWholeOr(after),
      through: fromWholeOr(through),
      since: since === '' ? undefined : since,
      until: until === '' ? undefined : until,
      filter: filter === '' ? undefined : parseFilter(filter),
      limit: fromWholeOr(limit),
    }),
  };
}

/** Appends one batch after the other: a later one must not be stored before an earlier one. */
async function* appendBatches(at: AtRef, context: HandlerContext, requests: AsyncIterable<StreamAppendsRequest>) {
  for await (const { batch, append } of requests) {
    try {
      if (append === undefined) throw noBatch();
      const stored = await appendTexts(at, context, append);
      yield { batch, events: stored };
    } catch (error) {
      if (!(error instanceof RepriseError)) throw error;
      yield { batch, error: errorToWire(error) };
    }
  }
}

function noBatch(): RepriseError {
  return new RepriseError('option.invalid', 'Cannot append: the message has no append', {
    hint: 'Send the events with the branch that they are for.',
    details: { path: 'append' },
  });
}

async function appendTexts(at: AtRef, context: HandlerContext, request: AppendEventsRequest): Promise<string[]> {
  if (request.ref.includes('@'))
    throw new RepriseError('option.invalid', 'Cannot append: "ref" names a point', {
      hint: 'Name the branch alone, for example "demo/careful".',
      details: { path: 'ref' },
    });
  const { session, ref } = await at(context, request);
  const drafts = request.events.map((text, index) => objectIn(text, `events[${index}]`));
  const stored = await session.branch(ref.branch).append(drafts as never, appendOptions(request));
  return stored.map((event) => JSON.stringify(event));
}

function appendOptions({ condition, epoch }: AppendEventsRequest): AppendOptions {
  const kind = condition?.kind;
  const held = given({ epoch: fromWholeOr(epoch) });
  if (kind?.case === 'head') return { ...held, head: fromWhole(kind.value) };
  if (kind?.case !== 'unchanged') return held;
  const { since, keys, prefixes } = kind.value;
  return { ...held, unchanged: { since: fromWhole(since), keys, prefixes } };
}
