/** Imports a file into a store and says how far it is: a test kills it on the way. */
import { openReprise } from '../../src/index.ts';

const [store = '', path = ''] = process.argv.slice(2);
await using reprise = await openReprise({ store, config: false, durability: 'process' });
process.stdout.write('opened\n');
await reprise.import(path, {
  session: 'long',
  onProgress: ({ events }) => {
    process.stdout.write(`${events}\n`);
  },
});
process.stdout.write('done\n');
