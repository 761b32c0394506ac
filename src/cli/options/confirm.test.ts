import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { confirm } from './confirm.ts';

/** A terminal at which a person types this, or leaves. */
function terminal(typed: string, isTerminal = true) {
  const input = new PassThrough();
  const output = new PassThrough();
  input.end(typed);
  return { input, output, isTerminal };
}

const question = { question: 'Forget 1 payload?', yes: false, isJson: false };

describe('confirm()', () => {
  test('asks, says that it cannot be undone, and takes only "yes" for yes', async () => {
    const held = terminal('yes\n');
    expect(await confirm(question, held)).toBe(true);
    expect(String(held.output.read())).toBe('Forget 1 payload? This cannot be undone. Type "yes" to confirm: ');
    for (const typed of ['y\n', 'no\n', '\n', 'YES\n']) expect(await confirm(question, terminal(typed))).toBe(false);
  });

  test('input that ends is no yes', async () => {
    const held = terminal('');
    expect(await confirm(question, held)).toBe(false);
    expect(String(held.output.read())).toMatch(/to confirm: \n$/);
  });

  test('does not ask with --yes', async () => {
    const held = terminal('');
    expect(await confirm({ ...question, yes: true }, held)).toBe(true);
    expect(held.output.read()).toBeNull();
  });

  test('without a terminal, and in JSON, only --yes will do', async () => {
    const refused = expect.objectContaining({ code: 'session.not-confirmed', hint: 'Add --yes to confirm.' });
    await expect(confirm(question, terminal('yes\n', false))).rejects.toEqual(refused);
    await expect(confirm({ ...question, isJson: true }, terminal('yes\n'))).rejects.toEqual(refused);
  });
});
