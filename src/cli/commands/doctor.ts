import { Option } from 'commander';
import { type DoctorAnswer, diagnose } from '../answering/diagnosis.ts';
import type { CommandSpec } from '../command.ts';
import { done, no } from '../exit-code.ts';
import { flagOption } from '../option-values.ts';
import { diagnosisLines } from '../render/diagnosis-lines.ts';

/** `reprise doctor`. */
export const doctor: CommandSpec = {
  options: [
    new Option(
      '--verify',
      'also verify every branch in every namespace, and compare index, clocks and snapshots with the log',
    ),
    new Option('--create', 'create the store if it does not exist'),
  ],
  examples: ['reprise doctor', 'reprise doctor --verify', 'reprise doctor --store sqlite:other.db --create --json'],
  run: async (context, _values, options) => {
    const { out } = context;
    const verify = flagOption(options, 'verify');
    const create = flagOption(options, 'create');
    const onTotal = (events: number): void => out.progress.begin('doctor', events);
    const found: DoctorAnswer = await diagnose(context, { verify, create, onTotal }).finally(() => out.progress.end());
    if (out.json !== undefined) await out.value(found);
    else {
      await out.lines(diagnosisLines(out, found));
      if (found.ok && (found.sessions ?? 0) > 0) out.next('reprise list');
    }
    return found.ok ? done : no;
  },
};
