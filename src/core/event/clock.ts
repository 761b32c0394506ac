/**
 * How far the clocks of a branch have come with an event: the latest time and the highest turn among the events that it
 * stores up to there. An event's own time or turn may lie behind, since wall clocks are set back and agents are late;
 * these two only rise along a branch, so that the first event later than a time is found by halving.
 */
export interface Clock {
  readonly time: string;
  readonly turn: number;
}

/** Before the first event of a branch: earlier than any time and any turn. */
export const clockAtStart: Clock = { time: '', turn: -1 };

/** The clock of a branch with one more event. */
export function clockWith(clock: Clock, { time, turn }: Clock): Clock {
  return { time: time > clock.time ? time : clock.time, turn: Math.max(turn, clock.turn) };
}

/** What is stored of a clock beside its event: only what the event does not say itself, which is nearly always nothing. */
export function clockBeside(
  clock: Clock,
  event: Clock,
): { readonly time: string | null; readonly turn: number | null } {
  return {
    time: clock.time === event.time ? null : clock.time,
    turn: clock.turn === event.turn ? null : clock.turn,
  };
}
