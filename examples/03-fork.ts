// Fork: the same moment with one thing changed. Nothing is copied, and the original is as it was.
import { conversation, openReprise } from 'reprise';

await using reprise = await openReprise('memory:');
const session = await reprise.createSession('incident-42');
const ask = (text: string) => ({ role: 'user', content: text });
await session.append([
  { type: 'settings.changed', data: { model: 'small-1', system: 'Find the cause.' } },
  { type: 'message.added', turn: 1, data: { message: ask('Why is checkout slow?') } },
  { type: 'call.started', turn: 1, data: { call: 'q1', kind: 'tool', name: 'metrics', input: { of: 'checkout' } } },
  { type: 'call.ended', data: { call: 'q1', kind: 'tool', name: 'metrics', outcome: 'ok', output: { pool: '100%' } } },
  { type: 'note.added', turn: 2, data: { text: 'It restarted the web servers.' } },
]);

// A different question and a different model, from the moment after the question.
const narrower = await session.fork('main@2', {
  name: 'narrower',
  prompt: 'Only check the connection pool.',
  model: 'large-1',
  reason: 'too broad',
  metadata: { experiment: 1 },
});
// A different answer of a tool, with everything that came before it.
await session.fork('main@4', {
  name: 'calm-pool',
  edits: [{ kind: 'toolResult', call: 'q1', output: { pool: '12%' } }],
});
// A fork of a fork, at any event of any branch.
await session.at({ branch: 'narrower', seq: narrower.head }).fork({ name: 'narrower-2', system: 'Be brief.' });

for (const name of ['main', 'narrower', 'calm-pool', 'narrower-2']) {
  const { model, system, messages } = await session.at(name).fold(conversation);
  console.log(
    `${name.padEnd(10)} ${model} | ${system} | ${messages.map(({ message }) => message?.['content']).join(' / ')}`,
  );
}

const [first] = await Array.fromAsync(narrower.replay({ history: 'raw', filter: { types: ['branch.forked'] } }));
console.log(`\nlineage, in the log itself: ${JSON.stringify({ ...first?.data, parent: narrower.parent })}`);

const show = (node: Awaited<ReturnType<typeof session.tree>>, depth: number): void => {
  console.log(`${'  '.repeat(depth)}${node.branch} (head ${node.head})`);
  for (const child of node.children) show(child, depth + 1);
};
show(await session.tree(), 0);
