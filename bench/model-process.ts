/** A scripted model in a separate process, so that neither it nor the agent waits for the other's work. */
import { openModelServer } from '../src/testing.ts';

const [firstMs = '0', pieceMs = '0', pieces = '0'] = process.argv.slice(2);
const pace = { firstMs: Number(firstMs), pieceMs: Number(pieceMs) };
const text = Array.from({ length: Number(pieces) }, (_, index) => `word-${index} `);

const server = await openModelServer([
  { when: { answered: 'lookup' }, reply: { ...pace, text } },
  { reply: { ...pace, text, toolCalls: [{ name: 'lookup', input: { order: 7 } }] } },
]);
process.stdout.write(`${server.url}\n`);
// It ends with the process that started it, however that one ends.
process.stdin.resume().on('end', () => process.exit(0));
