import { Worker } from 'node:worker_threads';
import { RepriseError } from '../../core/error.ts';
import type { Examined } from './operations/health.ts';

/** The file to examine, and how thoroughly. */
export interface ExaminationRequest {
  /** A path, or the text of a `file:` URL. */
  readonly location: string;
  readonly isUrl: boolean;
  readonly deep: boolean;
}

/** The answer of the thread that examines. */
export type ExaminationAnswer = { readonly examined: Examined } | { readonly error: unknown };

/**
 * Examines a whole file in a separate thread: SQLite does it in one statement, which would block the event loop for
 * as long as the file is large.
 */
export async function examineAside(request: ExaminationRequest): Promise<Examined> {
  const worker = new Worker(new URL('./examination-worker.ts', import.meta.url), {
    workerData: request,
    env: process.env,
    execArgv: [],
  });
  try {
    const answer = await new Promise<ExaminationAnswer>((resolve, reject) => {
      worker.once('message', resolve);
      worker.once('error', reject);
      worker.once('exit', () => reject(new Error('the thread ended without an answer')));
    });
    if ('examined' in answer) return answer.examined;
    throw RepriseError.from(answer.error);
  } catch (error) {
    if (error instanceof RepriseError) throw error;
    throw new RepriseError('store.failed', `Cannot examine the store: ${(error as Error).message}`, {
      hint: 'Allow this program to start a thread, or try again.',
      cause: error,
    });
  } finally {
    await worker.terminate();
  }
}
