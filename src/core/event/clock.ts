/**
 * The clock of a branch at an event: the latest time and the highest turn of the events it stores up to there. An event's
 * own time or turn may be lower, since wall clocks are set back and agents are late. The clock only rises along a branch,
 * so the first event after a time is found by binary search.
 */
export interface Clock {
  readonly time: string;
  readonly turn: number;
}

/** The clock before the first event of a branch: earlier than any time and any turn. */
export const clockAtStart: Clock = { time: '', turn: -1 };

/** Returns the clock of a branch with one more event. */
export function clockWith(clock: Clock, { time, turn }: Clock): Clock {
  return { time: time > clock.time ? time : clock.time, turn: Math.max(turn, clock.turn) };
}

/** Returns the clock columns of an event row: null where the event's own time or turn is the clock, which is nearly always. */
export function clockBeside(
  clock: Clock,
  event: Clock,
): { readonly time: string | null; readonly turn: number | null } {
  return {
    time: clock.time === event.time ? null : clock.time,
    turn: clock.turn === event.turn ? null : clock.turn,
  };
}
