import { expect, test, vi } from 'vitest';
import { isSameStore, nameOf, parseAddress } from './address.ts';

function hostsOf(url: string): string[] {
  return parseAddress(url).hosts.map(nameOf);
}

test('a URL names one host or several, each with its port', () => {
  expect(hostsOf('postgres://me:secret@db.example.com/agents')).toEqual(['db.example.com:5432']);
  expect(hostsOf('postgresql://a:1,b:2,c/agents')).toEqual(['a:1', 'b:2', 'c:5432']);
  expect(hostsOf('postgres://me@[::1]:6543,[fe80::1]/agents')).toEqual(['[::1]:6543', '[fe80::1]:5432']);
  expect(hostsOf('postgres://me@/agents?host=/run/postgresql&port=6543')).toEqual(['/run/postgresql:6543']);
  expect(hostsOf('postgres://me@%2Frun%2Fpostgresql/agents')).toEqual(['/run/postgresql:5432']);
  expect(hostsOf('postgres:///agents?host=a,b&port=1,2')).toEqual(['a:1', 'b:2']);
});

test('what is ours is taken out of a URL, the rest is the driver’s', () => {
  const { url, schema, target, location } = parseAddress(
    'postgres://me:p%40ss@a:1,b:2/agents?schema=other&target_session_attrs=primary&application_name=x',
  );
  expect({ url, schema, target, location }).toEqual({
    url: 'postgres://me:p%40ss@localhost/agents?application_name=x',
    schema: 'other',
    target: 'primary',
    location: 'postgres://me@a:1,b:2/agents?schema=other',
  });
  expect(parseAddress('postgres://a/b')).toMatchObject({ schema: 'reprise', target: undefined, isEncrypted: false });
});

test('only a mode that insists on encryption refuses a server without it', () => {
  const isEncrypted = (mode: string): boolean => parseAddress(`postgres://a/b?sslmode=${mode}`).isEncrypted;
  expect(['require', 'verify-ca', 'verify-full'].map(isEncrypted)).toEqual([true, true, true]);
  expect(['disable', 'allow', 'prefer'].map(isEncrypted)).toEqual([false, false, false]);
});

test('a URL that cannot be understood is refused without its password', () => {
  for (const url of [
    'postgres://',
    'mysql://a/b',
    'postgres://me:secret@a:0/b',
    'postgres://me:secret@a:port/b',
    'postgres://me:secret@a/b?schema=Not-This',
    'postgres://me:secret@a/b?target_session_attrs=fastest',
    'postgres://me:/secret@a/b',
    'postgres://me:?secret@a/b',
    'postgres://me:12?secret@a/b',
    'postgres://me:#/secret@a/b',
    'postgres://me:%secret@a/b',
    'postgres://a/b?password=secret&schema=Not-This',
  ]) {
    try {
      parseAddress(url);
      expect.unreachable(url);
    } catch (error) {
      expect(error).toMatchObject({ code: 'option.invalid' });
      expect(JSON.stringify(error) + String(error)).not.toContain('secret');
    }
  }
});

test('a URL that cannot be understood is refused with what is wrong in it', () => {
  const refusalOf = (url: string): string => {
    try {
      return parseAddress(url).location;
    } catch (error) {
      return String(error);
    }
  };
  expect(refusalOf('postgres://me:a/b@host/agents')).toContain('its password has a character');
  expect(refusalOf('postgres://me:1?b@host/agents')).toContain('its password has a character');
  expect(refusalOf('postgres://')).toContain('not the URL of a database');
  expect(refusalOf('postgres://me:a%b@host/agents')).toContain('a "%" in it');
  expect(refusalOf('postgres://me@host:port/agents')).toContain('a host or port that cannot be one');
  expect(refusalOf('postgres://me@host/agents?schema=Other')).toContain('"Other" cannot be');
  expect(refusalOf('postgres://me@host/agents?target_session_attrs=best')).toContain('no target_session_attrs "best"');
});

test('user and password may be parameters, as in other programs', () => {
  const { url, location } = parseAddress('postgres:///agents?host=/tmp&user=me&password=a%20%2Fb&application_name=x');
  expect({ url, location }).toEqual({
    url: 'postgres://me:a%20%2Fb@localhost/agents?application_name=x',
    location: 'postgres:///agents',
  });
  expect(parseAddress('postgres://you:old@host/agents?user=me').url).toBe('postgres://me:old@localhost/agents');
  expect(parseAddress('postgres://you:old@host/agents?password=new').url).toBe('postgres://you:new@localhost/agents');
});

test('two URLs are the same store however they are written, and not if host, database or schema differ', () => {
  const url = 'postgres://me:secret@db.example:5432/agents';
  for (const same of [
    'postgresql://you@db.example/agents',
    'postgres:///agents?host=db.example',
    'postgres:///agents?host=db.example&port=5432&user=me',
    'postgres://db.example/%61gents?schema=reprise&sslmode=require',
  ])
    expect([same, isSameStore(url, same)]).toEqual([same, true]);
  for (const different of [
    'postgres://db.example:5433/agents',
    'postgres://db.example/agents?schema=other',
    'postgres://db.example/agent',
    'postgres://db.example,other.example/agents',
    'postgres:///agents?host=/tmp',
  ])
    expect([different, isSameStore(url, different)]).toEqual([different, false]);
});

test('the environment names host, port and database where a URL does not', () => {
  vi.stubEnv('PGHOST', 'db.example');
  vi.stubEnv('PGPORT', '6000');
  vi.stubEnv('PGDATABASE', 'agents');
  expect(isSameStore('postgres:///agents', 'postgres://db.example:6000/agents')).toBe(true);
  expect(isSameStore('postgres://me@db.example', 'postgres://db.example:6000/agents')).toBe(true);
  vi.unstubAllEnvs();
  expect(isSameStore('postgres://agents@localhost', 'postgres://localhost/agents')).toBe(true);
});
