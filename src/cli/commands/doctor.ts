import { Option } from 'commander';
import { type Diagnosis, diagnose } from '../answering/diagnosis.ts';
import type { CommandSpec } from '../command.ts';
import { done, no } from '../exit-code.ts';
import { diagnosisLines } from '../render/diagnosis-lines.ts';

/** `reprise doctor`. */
export const doctor: CommandSpec = {
  options: [
    new Option('--verify', 'also recompute every digest of every branch'),
    new Option('--create', 'make the store if there is none'),
  ],
  examples: ['reprise doctor', 'reprise doctor --verify', 'reprise doctor --store sqlite:other.db --create --json'],
  run: async (context, _values, options) => {
    const { out } = context;
    const verify = options['verify'] === true;
    const create = options['create'] === true;
    const onTotal = (events: number): void => out.progress.begin('doctor', events);
    const found: Diagnosis = await diagnose(context, { verify, create, onTotal }).finally(() => out.progress.end());
    if (out.json !== undefined) await out.value(found);
    else {
      await out.lines(diagnosisLines(out, found));
      if (found.ok && (found.sessions ?? 0) > 0) out.next('reprise list');
    }
    return found.ok ? done : no;
  },
};
