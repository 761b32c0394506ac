import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { conversation, type Projection, type Reprise, runs, type Session } from '../../src/index.ts';
import { openWith } from '../../src/open-reprise.ts';
import { all } from '../verbs/verb-case.ts';
import { ConversationRun, type Habit, type TalkCommand } from './conversation-run.ts';
import { runCount } from './run-count.ts';

const kind = fc.constantFrom<TalkCommand[0][]>('say', 'say', 'call', 'call', 'change', 'drop', 'fork', 'rewind');
const command: fc.Arbitrary<TalkCommand> = fc.tuple(kind, fc.nat(20), fc.nat(3), fc.nat(60), fc.nat(3));
const histories = fc.array(command, { minLength: 8, maxLength: 40, size: 'max' });
const picks = fc.array(fc.tuple(fc.nat(1_000), fc.nat(1_000)), { minLength: 3, maxLength: 3 });

interface At {
  readonly branch: string;
  readonly seq: number;
}

/** The history at a point, as the history of a session of its own. */
async function copyOf(reprise: Reprise, session: Session, at: At): Promise<Session> {
  const copy = await reprise.createSession();
  const events = await all(session.at(at).replay());
  const drafts = events.map(({ type, turn, data, agent }) => ({
    type,
    turn,
    data,
    ...(agent === undefined ? {} : { agent }),
  }));
  if (drafts.length > 0) await copy.append(drafts);
  return copy;
}

/** Everything but where and when: a copy stands elsewhere. */
const content = (value: unknown): string =>
  JSON.stringify(value, (key, held: unknown) => (/^(left|right)$|seq$|At$|Ms$/i.test(key) ? undefined : held));

async function runAll(habit: Habit, commands: readonly TalkCommand[], pairs: readonly (readonly [number, number])[]) {
  await using reprise = await openWith({ store: 'memory:' }, { snapshotEvents: 2 });
  const session = await reprise.createSession('s');
  const run = new ConversationRun([session], habit);
  for (const one of commands) await run.run(one);
  const points = run.model.branches.flatMap((branch) => run.model.points(branch).map(([seq]): At => ({ branch, seq })));
  for (const [l, r] of pairs) {
    const [a, b] = [points[l % points.length] as At, points[r % points.length] as At];
    const [left, right] = [await copyOf(reprise, session, a), await copyOf(reprise, session, b)];
    const diff = await reprise.diff(`s/${a.branch}@${a.seq}`, `s/${b.branch}@${b.seq}`);
    expect(content(diff.pairs)).toBe(content((await reprise.diff(left.id, right.id)).pairs));
    expect(await session.at(a).fingerprint()).toBe(await left.fingerprint());
    for (const projection of [conversation, runs] as readonly Projection<unknown, unknown>[])
      expect(content(await session.at(a).fold(projection, { snapshots: false }))).toBe(
        content(await left.fold(projection, { snapshots: false })),
      );
  }
}

describe('I4 two points of one session, edited, forked and rewound, are compared and read', () => {
  it.each<Habit>(['repeating', 'shortening'])('as copies of what they show are (%s)', (habit) =>
    fc.assert(
      fc.asyncProperty(histories, picks, (commands, pairs) => runAll(habit, commands, pairs)),
      { numRuns: runCount() },
    ),
  );
});
