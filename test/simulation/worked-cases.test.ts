import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type Edit, openReprise, RepriseError, type Session } from '../../src/index.ts';
import { all } from '../verbs/verb-case.ts';

interface Operation {
  readonly on?: string;
  readonly add?: string;
  readonly turn?: number;
  readonly replace?: number;
  readonly insert?: number;
  readonly with?: string;
  readonly revert?: readonly [number];
  readonly rewind?: number;
  readonly rewindToTurn?: number;
  readonly redo?: true;
  readonly fork?: number;
  readonly as?: string;
  readonly edits?: readonly {
    readonly replace?: number;
    readonly insert?: number;
    readonly drop?: number;
    readonly with?: string;
  }[];
  readonly refused?: true;
}

interface WorkedCase {
  readonly name: string;
  readonly ops: readonly Operation[];
  readonly views: Readonly<Record<string, readonly string[]>>;
}

const cases = JSON.parse(readFileSync(new URL('worked-cases.json', import.meta.url), 'utf8')) as readonly WorkedCase[];

const note = (text = '') => ({ type: 'note.added', data: { text } });

function editOf({ replace, insert, drop, with: text }: NonNullable<Operation['edits']>[number]): Edit {
  if (replace !== undefined) return { kind: 'replace', seq: replace, event: note(text) };
  if (insert !== undefined) return { kind: 'insert', after: insert, event: note(text) };
  return { kind: 'drop', seq: drop ?? 0 };
}

async function run(session: Session, op: Operation): Promise<unknown> {
  const branch = op.on ?? 'main';
  if (op.add !== undefined)
    return session.branch(branch).append(op.turn === undefined ? note(op.add) : { ...note(op.add), turn: op.turn });
  if (op.revert !== undefined) return session.branch(branch).revert(op.revert[0]);
  if (op.rewind !== undefined) return session.branch(branch).rewind(op.rewind);
  if (op.rewindToTurn !== undefined) return session.branch(branch).rewind({ story: op.rewindToTurn });
  if (op.redo === true) return session.branch(branch).redo();
  if (op.fork !== undefined)
    return session.at({ branch, seq: op.fork }).fork({ name: op.as ?? '', edits: (op.edits ?? []).map(editOf) });
  return session.branch(branch).edit(editOf(op));
}

describe('views, in cases a person can read', () => {
  test.each(cases)('$name', async ({ ops, views }) => {
    await using reprise = await openReprise('memory:');
    const session = await reprise.createSession('case');
    for (const op of ops) {
      if (op.refused === true) await expect(run(session, op)).rejects.toBeInstanceOf(RepriseError);
      else await run(session, op);
    }
    for (const [point, texts] of Object.entries(views)) {
      const events = await all(session.at(point).replay());
      expect(
        events.map((event) => event.data['text']),
        point,
      ).toEqual(texts);
    }
  });
});
