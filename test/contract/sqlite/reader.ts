// Opens a store for reading at the first line of its input, and answers each line with the number of events it sees.
import { createInterface } from 'node:readline';
import { openReprise, type Reprise, RepriseError } from '../../../src/index.ts';

let reprise: Reprise | undefined;
for await (const _ of createInterface({ input: process.stdin })) {
  try {
    reprise ??= await openReprise({ store: `sqlite:${process.argv[2]}`, readOnly: true });
    const session = await reprise.session('demo');
    console.log((await Array.fromAsync(session.replay())).length);
  } catch (error) {
    console.log(error instanceof RepriseError ? error.code : String(error));
  }
}
await reprise?.close();
