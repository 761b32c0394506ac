import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AppendFault } from '../../../test/contract/faulty-store.ts';
import { openStage, stores } from '../../../test/contract/recording-stage.ts';
import { RepriseError } from '../../core/error.ts';
import type { AppendOutcome } from '../../core/store/event-store.ts';

/** The next step: an event comes, everything is stored, or a different writer rewinds the branch. */
const happenings = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.constant({ kind: 'tell' } as const) },
    { weight: 2, arbitrary: fc.constant({ kind: 'flush' } as const) },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('rewind' as const), share: fc.double({ min: 0, max: 1, noNaN: true }) }),
    },
    { weight: 1, arbitrary: fc.constant({ kind: 'intrude' } as const) },
  ),
  { minLength: 5, maxLength: 40 },
);

/** The faults of the store, in order; never more in a row than a recorder tries. */
const faults = fc.array(fc.constantFrom('none', 'none', 'busy', 'lost'), { minLength: 1, maxLength: 20 });

function faultOf(kinds: readonly string[]): AppendFault {
  let at = 0;
  let inARow = 0;
  const busy: readonly AppendOutcome[] = [{ ok: false, error: new RepriseError('store.busy', 'Cannot append: busy') }];
  return ([request], next) => {
    // Appends of other writers, and the fork, never fail here.
    if (request?.epoch === undefined) return undefined;
    const kind = inARow >= 2 ? 'none' : kinds[at++ % kinds.length];
    inARow = kind === 'none' ? 0 : inARow + 1;
    if (kind === 'busy') return Promise.resolve(busy);
    return kind === 'lost' ? next().then(() => Promise.reject(new Error('the answer was lost'))) : undefined;
  };
}

describe.each(Object.keys(stores))('on %s', (kind) => {
  test('whatever a store and others do meanwhile, every event is there once and in order', async () => {
    await fc.assert(
      fc.asyncProperty(happenings, faults, async (story, kinds) => {
        await using stage = await openStage(kind, { fault: faultOf(kinds) });
        const recorder = await stage.session.record({ facts: false, agent: 'told' });
        let told = 0;
        for (const next of story) {
          if (next.kind === 'tell') recorder.event({ type: 'note.added', data: { text: `${told++}` } });
          else if (next.kind === 'flush') await recorder.flush();
          else if (next.kind === 'intrude') await stage.session.append({ type: 'goal.set', data: { goal: 'other' } });
          else {
            const { branch } = recorder;
            const { head } = await stage.session.at(branch).locate();
            await stage.session.branch(branch).rewind(Math.floor(head * next.share));
          }
        }
        const { stored, failed, branch } = await recorder.close();
        expect([stored, failed]).toEqual([told, 0]);
        const seen = (await Array.fromAsync(stage.session.branch(branch).replay({ history: 'raw' })))
          .filter((event) => event.agent === 'told')
          .map((event) => event.data['text']);
        expect(seen).toEqual(Array.from({ length: told }, (_, index) => `${index}`));
      }),
      { numRuns: kind === 'memory' ? 200 : 30 },
    );
  });
});
