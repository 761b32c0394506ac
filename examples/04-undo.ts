// Undo on a live branch: rewind, revert, redo. Each is an event; nothing is deleted, and every earlier point stays.
import { openReprise, RepriseError } from 'reprise';

await using reprise = await openReprise('memory:');
const session = await reprise.createSession('plan');
const say = (text: string) => ({ type: 'note.added', data: { text } });
const view = async (at = 'main'): Promise<string> =>
  (await Array.fromAsync(session.at(at).replay(), (event) => event.data['text'])).join(' ');
const show = async (what: string): Promise<void> => {
  const { seq } = await session.locate();
  console.log(`${what.padEnd(26)} main@${seq}  ${await view()}`);
};

await session.append(['pack', 'drive', 'swim', 'return'].map(say));
await show('recorded');

const rewound = await session.rewind(2, { reason: 'it rains' });
await show(`rewound, ${rewound.undone.length} undone`);

await session.redo();
await show('redone');

const reverted = await session.revert(3, { reason: 'no swimming' });
await show(`reverted seq ${reverted.undone.join()}`);

await session.edit({ kind: 'replace', seq: 2, event: { data: { text: 'cycle' } } });
await show('replaced seq 2');

await session.redo();
await session.redo();
await show('redone twice');

// You can still look at everything that happened in between: the past stays put.
console.log(`\nmain@5 was and is: ${await view('main@5')}`);
console.log(`main@7 was and is: ${await view('main@7')}`);

// Undoing a rewind now would orphan what was appended since, so Reprise refuses it.
await session.rewind(1);
await session.append(say('stay home'));
try {
  await session.redo();
} catch (error) {
  if (!(error instanceof RepriseError)) throw error;
  console.log(`\n${error.code}: ${error.message}\n${error.hint}`);
}
