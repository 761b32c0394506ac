import { expect, test } from 'vitest';
import { withoutPassword } from './store-url.ts';

test('a URL is shown as it is, without the password', () => {
  expect(withoutPassword('postgres://me:secret@db.example.com:5432/agents?schema=other')).toBe(
    'postgres://me@db.example.com:5432/agents?schema=other',
  );
  expect(withoutPassword('postgresql://me:p%40ss@a:1,[::1]:2/agents')).toBe('postgresql://me@a:1,[::1]:2/agents');
  expect(withoutPassword('postgres://me:secret@a/b?application_name=x@y')).toBe(
    'postgres://me@a/b?application_name=x@y',
  );
  for (const url of [
    'sqlite:.reprise/reprise.db',
    'memory:',
    'postgres://me@host/agents',
    'postgres://a:5432,b/agents?application_name=x@y',
    'postgres://[::1]:5432/agents',
    'postgres:///agents?host=/tmp&user=me',
  ])
    expect(withoutPassword(url)).toBe(url);
});

test('a password in a parameter is left out too', () => {
  expect(withoutPassword('postgres:///agents?user=me&password=secret&schema=other')).toBe(
    'postgres:///agents?user=me&schema=other',
  );
  expect(withoutPassword('postgres://host/agents?password=secret')).toBe('postgres://host/agents');
});

test('a password with characters that a URL gives a meaning to is left out whole', () => {
  for (const password of [
    'se/cret',
    'se?cret',
    'se#cret',
    'se@cret',
    '12/cret',
    '1?cret',
    'a@b/cret',
    '%zz cret',
    'a:cret',
  ])
    expect([password, withoutPassword(`postgres://me:${password}@host/agents`)]).toEqual([
      password,
      'postgres://me@host/agents',
    ]);
});
