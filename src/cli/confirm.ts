import { createInterface } from 'node:readline/promises';
import { RepriseError } from '../core/error.ts';

/** Asks before something that cannot be undone. Without a terminal, or in JSON, only `--yes` will do. */
export async function confirm(question: string, options: Readonly<Record<string, unknown>>, isJson: boolean): Promise<void> {
  if (options['yes'] === true) return;
  if (isJson || process.stdin.isTTY !== true) {
    throw new RepriseError('session.not-confirmed', 'Cannot go on without a confirmation: this cannot be undone', { hint: 'Add --yes.' });
  }
  const reader = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await reader.question(`${question} This cannot be undone. Type "yes": `);
    if (answer.trim() !== 'yes') throw new RepriseError('session.not-confirmed', 'Cannot go on: it was not confirmed');
  } finally {
    reader.close();
  }
}
