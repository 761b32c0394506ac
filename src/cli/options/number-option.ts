import { InvalidArgumentError } from 'commander';

const decimal = /^(?=.)\d{0,12}(?:\.\d{1,9})?$/;

/** Reads the value of an option that takes a whole number from 0. */
export function wholeNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('It must be a whole number, 0 or more.');
  return Number(text);
}

/** Reads the value of an option that takes an amount, 0 included. */
export function amount(text: string): number {
  if (!decimal.test(text)) throw new InvalidArgumentError('It must be a number, 0 or more.');
  return Number(text);
}

/** Reads the value of an option that takes a number above 0. */
export function positiveNumber(text: string): number {
  const value = decimal.test(text) ? Number(text) : 0;
  if (!(value > 0)) throw new InvalidArgumentError('It must be a number greater than 0.');
  return value;
}
