import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createSecretFinder } from './secret-finder.ts';
import { textHint } from './text-hint.ts';

const hintOf = (text: string) => textHint(new TextEncoder().encode(text));

const jwt = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U';
const secrets: readonly string[] = [
  'sk-proj-abcDEF1234567890abcDEF1234',
  'sk-ant-api03-abcDEF1234567890abcDEF1234',
  'ghp_abcdefghijklmnopqrstuvwxyz0123456789',
  `github_pat_${'aB3'.repeat(14)}`,
  'glpat-abcdefghij1234567890',
  'xoxb-1234567890-abcdef',
  'sk_live_abcdefghij1234567890',
  'AKIAIOSFODNN7EXAMPLE',
  'AIzaSyA1234567890abcdefghijklmnopqrstuv',
  'hf_abcdefghijklmnopqrstuvwxyz012345',
  'npm_abcdefghijklmnopqrstuvwxyz0123456789',
  jwt,
  '-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\n-----END RSA PRIVATE KEY-----',
  'Authorization: Bearer abc123def456',
  'Basic dXNlcjpwYXNzd29yZA==',
  'postgres://app:s3cret@db.example:5432/x',
  'curl -u admin:hunter2hunter https://x',
  'mysql -phunter2 db',
  'PGPASSWORD=hunter2 psql',
  '\ntoken=abc123def',
  '?api_key=4f5g6h&x=1',
  '--client-secret "abc def"',
  '<password>hunter2</password>',
  'Cookie: sid=s123456789',
  'clientSecret: "a1b2c3d4"',
  '{"name":"DB_PASSWORD","value":"hunter2hunter"}',
  '{"args":["-u","admin:hunter2"]}',
  '{"pass\\u0077ord":"hunter2hunter"}',
];

describe('the hint of a text', () => {
  test.each(secrets)('sees that %j may be a secret, also inside JSON inside JSON', (secret) => {
    const { rulesIn } = createSecretFinder({}, {});
    for (const text of [
      secret,
      `It is ${secret}.`,
      JSON.stringify({ a: secret }),
      JSON.stringify({ a: JSON.stringify([secret]) }),
    ]) {
      const isFound = rulesIn(text).length > 0;
      if (isFound) expect(hintOf(text).mayHoldSecret, text).toBe(true);
    }
    expect(rulesIn(secret).length).toBeGreaterThan(0);
  });

  test('never misses a secret that the rules find in random text', () => {
    const words = [
      'password',
      'api_key',
      'token',
      ' = ',
      '":"',
      '=',
      'abc123',
      '\\n',
      '\n',
      'Bearer ',
      'x://u:p@h',
      "'",
      '"',
    ];
    const piece = fc.oneof(fc.constantFrom(...words, ...secrets), fc.string({ maxLength: 8 }));
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), fc.boolean(), (pieces, isJson) => {
        const text = isJson ? JSON.stringify({ said: pieces.join('') }) : pieces.join('');
        const { rulesIn } = createSecretFinder({}, {});
        return rulesIn(text).length === 0 || hintOf(text).mayHoldSecret;
      }),
      { numRuns: 500 },
    );
  });

  test('is quiet about what every transcript holds', () => {
    const line = {
      uuid: '50b1459b-0566-4e54-a977-02affa7db6e3',
      usage: { input_tokens: 12_345, cache_read_input_tokens: 77_893 },
      text: 'The key of the map is a task-list, see https://example.com/a?b=c, and monkeys pass.',
      signature: 'EuAB',
    };
    expect(hintOf(JSON.stringify(line))).toEqual({ mayHoldSecret: false, mayRound: false, hasEscapes: false });
  });

  test.each(['[1e400]', '1e5', '{"a": -1.5E3}', '[12345678901234567890]', '{"a":0.1234567890123456789}'])(
    'sees that %s may hold a number that is rounded',
    (text) => expect(hintOf(text).mayRound).toBe(true),
  );

  test('sees escapes', () =>
    expect(hintOf('{"a":"\\u001b[1m"}')).toMatchObject({ hasEscapes: true, mayHoldSecret: false }));
});
