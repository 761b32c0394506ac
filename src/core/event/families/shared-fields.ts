import { type FieldSpec, field, need } from '../event-spec.ts';

/** Marks a field as an id: it counts only by where it was used first. */
export const id = { role: 'id' } as const;

/** Marks a field as noise: it does not count when histories are compared. */
export const noise = { role: 'noise' } as const;

/** How something ended. */
export const outcome: FieldSpec = need('string', 'How it ended: ok, error, aborted, interrupted, budget or waiting.');

/** The error that something ended with. */
export const error: FieldSpec = field('object', 'The error: `{ name, message, code? }`.');

/** Why somebody did something. */
export const reason: FieldSpec = field('string', 'The reason, in the words of the one who did it.', noise);
