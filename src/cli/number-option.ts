import { InvalidArgumentError } from 'commander';

/** Reads the value of an option that takes a whole number from 0. */
export function wholeNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 0.');
  return Number(text);
}
