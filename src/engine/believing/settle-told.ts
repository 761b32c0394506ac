import { hasCode } from '../../core/error.ts';
import { strategyKey } from '../../core/event/families/knowledge.ts';
import { plainKey } from '../../core/event/keys.ts';
import { checkLimit } from '../../core/limits.ts';
import { fleetTable } from '../../projections/fleet.ts';
import { write } from '../changing/write.ts';
import type { Engine } from '../context/engine.ts';
import type { OnBranch } from '../context/on-branch.ts';
import { foldAt } from '../history/fold.ts';
import { keepSnapshots } from '../history/keep-snapshots.ts';
import { placeAtHead } from '../history/place.ts';
import { learnAppended } from './fleet-look.ts';
import type { Judge } from './judge.ts';
import { type SettledPair, settleEach } from './settle.ts';

/** The claims that were settled, and the verdicts. */
export interface SettledTold {
  /** How many claims were held against the others on their topics. */
  readonly claims: number;
  readonly settled: readonly SettledPair[];
}

/** Settles the claims that were appended by hand or told to a recorder, in the order of the log, in one append. */
export async function settleTold(engine: Engine, on: OnBranch, judge: Judge): Promise<SettledTold> {
  for (let tries = 1; ; tries++) {
    checkLimit('commitTriesMax', tries, `settle "${on.branch}": others keep writing on its topics`);
    const place = await placeAtHead(engine, on.session, on.branch);
    // A separate table, since settling changes it.
    const table = await foldAt(engine, place, fleetTable);
    const told = table.beliefs.filter(({ unsettled, erased }) => unsettled === true && erased !== true);
    const { drafts, pairs } = await settleEach(table, told, { judge, causeOf: ({ id }) => id });
    if (drafts.length === 0) return { claims: told.length, settled: [] };
    const keys = new Set(told.map(({ topic }) => plainKey('topic', topic ?? '')));
    try {
      const events = await write(engine, {
        session: on.session,
        target: { kind: 'branch', branch: on.branch },
        drafts,
        condition: { kind: 'unchanged', since: place.seq, keys: [...keys, strategyKey], prefixes: [] },
      });
      learnAppended(engine, on, events);
      keepSnapshots(engine, on.session, events);
      return { claims: told.length, settled: pairs };
    } catch (error) {
      if (!hasCode(error, 'state.conflict')) throw error;
    }
  }
}
