/** A session goes back to the tool it came from: forked at any message, edited, and in the form the tool resumes from. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { conversation, openReprise, type Reprise, type Session } from '../../src/index.ts';
import { claudeFork, claudeWork, sources } from './sources.ts';

let reprise: Reprise;
beforeAll(async () => {
  reprise = await openReprise({ store: 'memory:', config: false });
});
afterAll(() => reprise.close());

async function* pieces(text: string): AsyncGenerator<string> {
  yield text;
}

async function saidIn(session: Session, at: string): Promise<unknown[]> {
  const { messages } = await session.stateAt(at, conversation);
  return messages.map(({ message }) => {
    const { role, content } = message ?? {};
    return [role, typeof content === 'string' ? [{ type: 'text', text: content }] : content];
  });
}

describe.each([
  ['claude-code', 'a fork', claudeFork],
  ['claude-code', 'work', claudeWork],
  ['codex', 'a rollout', sources['codex']?.[0]?.text ?? ''],
  ['pi', 'a tree', sources['pi']?.[0]?.text ?? ''],
] as const)('%s: %s', (format, name, text) => {
  test('forked at any message and edited, it is resumed with the conversation of its branch', async () => {
    const session = await reprise.import(pieces(text), { format, session: `${format} ${name}` });
    const seqs: number[] = [];
    // A fork at the end of a call may be inside a line, which also says how a file changed.
    for await (const { seq } of session.replay({ filter: { types: ['message.added', 'call.ended'] } })) seqs.push(seq);
    expect(seqs.length).toBeGreaterThan(1);
    let edits = 0;
    for (const seq of seqs) {
      const name_ = `at-${seq}`;
      const branch = await session.fork(`main@${seq}`, { name: name_, prompt: 'Ask it once more.' }).then(
        () => name_,
        // The talk of a sub-agent, and one that was compacted, have no prompt of the person.
        async () => (await session.fork(`main@${seq}`, { name: name_ })).name,
      );
      const { id, path, text: handed } = await reprise.handBack(`${session.id}/${branch}`, { format });
      expect(path).toContain(id);
      const again = await reprise.import(pieces(handed), { format, session: id });
      expect(await saidIn(again, 'main'), `forked at ${seq}`).toEqual(await saidIn(session, branch));
      edits += handed.includes('Ask it once more.') ? 1 : 0;
    }
    expect(edits).toBeGreaterThan(seqs.length / 2);
  });
});
