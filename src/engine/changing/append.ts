import { RepriseError } from '../../core/error.ts';
import type { Event, EventDraft } from '../../core/event/event.ts';
import { checkId } from '../../core/id.ts';
import { checkKeys, type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import { listOf } from '../../core/list.ts';
import { seq } from '../../core/point.ts';
import { mainBranch } from '../../core/ref.ts';
import type { AppendOptions } from '../../core/session/session-log.ts';
import type { Condition } from '../../core/store/append-request.ts';
import type { Engine } from '../context/engine.ts';
import { keepSnapshots } from '../history/keep-snapshots.ts';
import { recall } from './recall.ts';
import { refuseStructural, write } from './write.ts';

/** Where and under which condition to append. */
export interface AppendTo extends AppendOptions {
  /** `main` if left out. */
  readonly branch?: string;
}

const appendKeys: KnownKeys = optionKeys<AppendTo>(
  'append',
  { branch: 'text', head: 'number', unchanged: 'object', epoch: 'number', continues: 'list' },
  'an append',
);

const unchangedKeys: KnownKeys = optionKeys<NonNullable<AppendOptions['unchanged']>>(
  'append',
  { since: 'number', keys: 'list', prefixes: 'list' },
  'the condition "unchanged"',
);

/** Refuses unknown options: with a misspelt condition, the events would be appended without any. */
function checkOptions(options: AppendTo): void {
  checkKeys(options, appendKeys);
  if (options.unchanged !== undefined) checkKeys(options.unchanged, unchangedKeys);
}

/** Appends events, all or nothing. */
export async function append(
  engine: Engine,
  session: string,
  events: EventDraft | readonly EventDraft[],
  options: AppendTo = {},
): Promise<readonly Event[]> {
  const drafts = listOf(events);
  if (drafts.length === 0) throw new RepriseError('append.empty', 'Cannot append: there are no events in the batch');
  checkOptions(options);
  refuseStructural(drafts);
  if (options.continues !== undefined && options.continues.length > 0) await recall(engine, session, options.continues);
  const appended = await write(engine, {
    session,
    target: { kind: 'branch', branch: options.branch === undefined ? mainBranch : checkId('branch', options.branch) },
    drafts,
    condition: conditionOf(options),
    ...(options.epoch === undefined ? {} : { epoch: seq(options.epoch) }),
  });
  keepSnapshots(engine, session, appended);
  return appended;
}

function conditionOf({ head, unchanged }: AppendOptions): Condition {
  if (head !== undefined && unchanged !== undefined)
    throw new RepriseError('event.invalid', 'Cannot append under two conditions at once', {
      hint: 'Pass either head or unchanged.',
    });
  if (head !== undefined) return { kind: 'head', seq: seq(head) };
  if (unchanged === undefined) return { kind: 'any' };
  return {
    kind: 'unchanged',
    since: seq(unchanged.since),
    keys: unchanged.keys ?? [],
    prefixes: unchanged.prefixes ?? [],
  };
}
