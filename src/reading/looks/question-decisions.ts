import { RepriseError } from '../../core/error.ts';
import { given, type JsonValue } from '../../core/json.ts';
import type { WaitingCall } from '../../core/recording/person-calls.ts';
import type { Decisions } from '../../engine/resuming/person-decisions.ts';
import type { QuestionAnswer } from './run-orders.ts';

/** Returns the decision that an answer makes about a question that waits for a person, or throws. */
export function decisionsFor({ call, about }: Pick<WaitingCall, 'call' | 'about'>, answer: QuestionAnswer): Decisions {
  const named = about ?? call;
  switch (answer.kind) {
    case 'approve':
      return { approve: [named] };
    case 'deny':
      return { deny: [{ call: named, ...given({ reason: answer.reason }) }] };
    case 'answer':
      return { answer: { [call]: answer.output satisfies JsonValue } };
    default:
      throw new RepriseError('option.invalid', 'Cannot answer the question: it waits for a person', {
        hint: 'Approve it, deny it, or answer it.',
      });
  }
}

/** Puts decisions together, as one run continues with all of them. */
export function joinedDecisions(made: readonly Decisions[]): Required<Decisions> {
  return {
    approve: made.flatMap(({ approve = [] }) => approve),
    deny: made.flatMap(({ deny = [] }) => deny),
    answer: Object.fromEntries(made.flatMap(({ answer = {} }) => Object.entries(answer))),
  };
}
