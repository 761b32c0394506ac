import { canonicalJson } from '../../core/canonical-json.ts';
import { finishValue } from '../../core/event/projection.ts';
import { previous } from '../../core/point.ts';
import type { ConversationState, LaneConversation } from '../../core/session/conversation-lane.ts';
import { type Conversation, conversation } from '../../projections/conversation.ts';
import { fold, foldAfter } from '../history/fold.ts';
import type { FoldedValue } from '../history/fold-pass.ts';
import type { Sight } from '../history/sight.ts';

/** Picks one conversation of those at a place. */
type Pick = (seen: Conversation) => LaneConversation | undefined;

/**
 * Returns a conversation with every message taken from the log, which digests cover. A snapshot only says where to look:
 * at the last model call, whose list and what followed it give the messages. If the log gives others than the snapshot,
 * or if there was no call, the whole history is folded from the log.
 */
export async function loggedConversation(
  sight: Sight,
  { value, isFromLog }: FoldedValue,
  pick: Pick,
): Promise<LaneConversation | undefined> {
  const seen = pick(finishValue(conversation, value as ConversationState));
  if (isFromLog) return seen;
  const logged =
    seen === undefined || seen.calledAt === null
      ? undefined
      : await foldAfter(sight, previous(seen.calledAt), conversation);
  const lane = logged === undefined ? undefined : pick(logged);
  if (seen !== undefined && lane !== undefined && contentOf(seen) === contentOf(lane)) return merged(seen, lane);
  return pick(await fold(sight, conversation, false));
}

/** Returns everything of a conversation but the seqs of its messages, which only the whole history knows. */
function contentOf({ messages, erased: _erased, ...lane }: LaneConversation): string {
  return canonicalJson({ ...lane, messages: messages.map(({ message }) => message ?? null) });
}

/** Puts the messages of the log under the seqs that the whole history gives them. */
function merged(seen: LaneConversation, { messages }: LaneConversation): LaneConversation {
  return {
    ...seen,
    messages: seen.messages.map((held, index) => {
      const message = messages[index]?.message;
      return message === undefined ? held : { seq: held.seq, message };
    }),
  };
}
