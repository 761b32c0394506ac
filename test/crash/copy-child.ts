/** Copies everything from one store to another, and says how far it is: told to be killed on the way. */
import { openReprise } from '../../src/index.ts';

const [from = '', to = ''] = process.argv.slice(2);
await using source = await openReprise({ store: from, readOnly: true });
await using target = await openReprise({ store: to });
await source.copy(target, {
  onProgress: ({ session, stage, events }) => {
    process.stdout.write(`${session} ${stage} ${events}\n`);
  },
});
process.stdout.write('done\n');
