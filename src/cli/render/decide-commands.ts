import type { WaitingCall } from '../../core/recording/person-calls.ts';

/** Suggests the commands that decide about what waits: each approval is granted, each question is answered. */
export function decideCommands(ref: string, waiting: readonly WaitingCall[]): string[] {
  if (waiting.length === 0) return [];
  const decisions = waiting.map(({ call, about }) =>
    about === null ? `--answer '${call}="…"'` : `--approve ${about}`,
  );
  return [`reprise resume ${ref} ${decisions.join(' ')}`];
}
