import { expect, test } from 'vitest';
import { RepriseError } from '../error.ts';
import { limits } from '../limits.ts';
import { asError, errorOfRecord, errorRecord, outcomeOfError } from './error-record.ts';

test('errorRecord() keeps name, message, code and status, and never a stack', () => {
  const error = Object.assign(new RangeError('Too many requests'), { code: 'rate_limit', status: 429 });
  expect(errorRecord(error)).toEqual({
    name: 'RangeError',
    message: 'Too many requests',
    code: 'rate_limit',
    status: 429,
  });
  expect(errorRecord(Object.assign(new Error('no'), { statusCode: 500 }))).toEqual({
    name: 'Error',
    message: 'no',
    status: 500,
  });
});

test('errorRecord() cuts a long message', () => {
  const { message } = errorRecord(new Error('x'.repeat(limits.errorTextMax + 1)));
  expect(message).toBe(`${'x'.repeat(limits.errorTextMax)}…`);
});

test('errorRecord() takes whatever was thrown', () => {
  expect(errorRecord('text')).toEqual({ name: 'Error', message: 'text' });
  expect(errorRecord(undefined)).toEqual({ name: 'Error', message: 'undefined' });
  expect(errorRecord({ message: 'like an error', name: 'Odd' })).toEqual({ name: 'Odd', message: 'like an error' });
  expect(errorRecord({})).toEqual({ name: 'Error', message: 'Something other than an error was thrown' });
  expect(errorRecord(new Error('x'.repeat(20_000))).message).toHaveLength(10_001);
});

test('outcomeOfError() tells what was stopped on purpose from what failed', () => {
  expect(outcomeOfError(new DOMException('stop', 'AbortError'))).toBe('aborted');
  expect(outcomeOfError(AbortSignal.abort().reason)).toBe('aborted');
  expect(outcomeOfError(Object.assign(new Error('stop'), { code: 'ABORT_ERR' }))).toBe('aborted');
  expect(outcomeOfError(new RepriseError('resume.timeout', 'Cannot go on: time is up'))).toBe('aborted');
  expect(outcomeOfError(new RepriseError('budget.exceeded', 'Cannot go on: no money'))).toBe('budget');
  expect(outcomeOfError(new Error('no'))).toBe('error');
  expect(outcomeOfError(undefined)).toBe('error');
});

test('errorOfRecord() gives an error that says what the recorded one said', () => {
  const error = errorOfRecord({ name: 'RateLimit', message: 'slow down', code: 'rate_limit', status: 429 });
  expect(error).toBeInstanceOf(Error);
  expect(errorRecord(error)).toEqual({ name: 'RateLimit', message: 'slow down', code: 'rate_limit', status: 429 });
  expect(errorOfRecord(undefined).message).toBe('The recorded call failed');
});

test('asError() leaves errors alone', () => {
  const error = new Error('x');
  expect(asError(error)).toBe(error);
  expect(asError('text').message).toBe('text');
});
