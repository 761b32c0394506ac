import { describe, expect, test } from 'vitest';
import { quoted, typed, typedAdvice } from './typed.ts';

describe('typed()', () => {
  test('is the command as this person started the program', () => {
    expect(typed('reprise list', {}, {})).toBe('reprise list');
    expect(typed('reprise list', {}, { npm_lifecycle_event: 'reprise' })).toBe('npm run -s reprise -- list');
    expect(typed('reprise list', {}, { npm_command: 'exec' })).toBe('npx reprise list');
  });

  test('never shows a password', () => {
    expect(typed('reprise list', { store: 'postgres://me:s3cr:t@db.example.com/agents' }, {})).toBe(
      'reprise list --store postgres://me@db.example.com/agents',
    );
  });

  test('has the store and the namespace that were given', () => {
    expect(typed('reprise list', { store: 'sqlite:my store.db', namespace: 'eu' }, {})).toBe(
      "reprise list --store 'sqlite:my store.db' --namespace eu",
    );
  });
});

test('advice has the commands in it as they can be typed, and no other words changed', () => {
  const advice = 'See "reprise list". The demo of reprise is "reprise demo".';
  expect(typedAdvice(advice, ['list', 'demo'], { npm_command: 'exec' })).toBe(
    'See "npx reprise list". The demo of reprise is "npx reprise demo".',
  );
});

test('a word is quoted only if a shell would change it', () => {
  expect(['refund/careful@12', 'a b', "it's", '$HOME'].map(quoted)).toEqual([
    'refund/careful@12',
    "'a b'",
    String.raw`'it'\''s'`,
    "'$HOME'",
  ]);
});
