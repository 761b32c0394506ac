import { type CodingContext, defaultCounter } from '../../core/coding/context.ts';
import { checkOutputTokens, type PreparedRequest, requestOf } from '../../core/coding/prepared-request.ts';
import type { CodingReceipt } from '../../core/coding/receipt.ts';
import { RepriseError } from '../../core/error.ts';
import type { Event } from '../../core/event/event.ts';
import { given } from '../../core/json.ts';
import { checkKeys, type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import type { Place } from '../history/place.ts';
import { bookAt, budgetAt, type ContextOptions, contextOptionNames, receiptIn, snapshotIn } from './coding-look.ts';
import { type CodingTarget, recordAtHead, recordCoding } from './record-coding.ts';

/** The request to prepare. */
export interface RequestInput extends ContextOptions {
  readonly model: string;
  /** The user's words. */
  readonly input: string;
  readonly instructions?: string;
  /** The most tokens of the answer; Anthropic asks for it, and gets 4,096 if it is left out. */
  readonly maxOutputTokens?: number;
  /** The run it belongs to; the open one if left out. */
  readonly run?: string;
}

/** A request that was prepared and recorded. */
export interface Prepared extends PreparedRequest {
  readonly event: Event;
  readonly context: CodingContext;
  readonly receipt: CodingReceipt;
}

const requestKeys: KnownKeys = optionKeys<RequestInput>(
  'prepare a request',
  { ...contextOptionNames, model: true, input: true, instructions: 'text', maxOutputTokens: true, run: 'text' },
  'a request',
);

/** Builds a request from the context at the head, and keeps its arguments in the log, so that a replay can build it again. */
export async function prepareRequest(target: CodingTarget, asked: RequestInput): Promise<Prepared> {
  checkKeys(asked, requestKeys);
  for (const name of ['model', 'input'] as const) {
    if (typeof asked[name] !== 'string' || asked[name] === '')
      throw new RepriseError('option.invalid', `Cannot prepare a request: it has no ${name}`, {
        hint: 'Pass { model, input, instructions? }.',
      });
  }
  checkOutputTokens(asked.maxOutputTokens);
  return recordAtHead(target, (place) => prepareAt(target, place, asked));
}

async function prepareAt(target: CodingTarget, place: Place, asked: RequestInput): Promise<Prepared> {
  const { engine } = target;
  const { model, input, instructions, maxOutputTokens, run, currentGoal, counter = defaultCounter } = asked;
  const budgetTokens = asked.budgetTokens ?? (await budgetAt(engine, place));
  const book = await bookAt(engine, place);
  const snapshot = await snapshotIn({ engine, session: target.session }, book, {
    budgetTokens,
    counter,
    ...given({ currentGoal }),
  });
  const about = { model, input, ...given({ instructions, maxOutputTokens }) };
  const request = { ...about, budgetTokens, counter: counter.name, ...given({ currentGoal }) };
  const event = await recordCoding(target, { type: 'request.prepared', data: { request } }, { run, head: place.seq });
  const { context } = snapshot;
  return { event, ...requestOf(context.text, about), context, receipt: receiptIn(engine, book, snapshot, null) };
}
