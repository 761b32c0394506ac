import { parentPort, workerData } from 'node:worker_threads';
import { RepriseError } from '../../core/error.ts';
import { Database } from './database.ts';
import type { ExaminationAnswer, ExaminationRequest } from './examination.ts';
import { examine } from './operations/health.ts';

/** Examines the file of a request, on a connection of this thread. */
function answerTo({ location, isUrl, deep }: ExaminationRequest): ExaminationAnswer {
  try {
    const database = new Database({ location: isUrl ? new URL(location) : location, readOnly: true });
    try {
      return { examined: database.reading(() => examine(database, { deep })) };
    } finally {
      database.close();
    }
  } catch (error) {
    return { error: error instanceof RepriseError ? error.toJSON() : { message: String(error) } };
  }
}

parentPort?.postMessage(answerTo(workerData as ExaminationRequest));
