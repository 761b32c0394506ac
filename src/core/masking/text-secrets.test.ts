import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createNodePlatform } from '../../node/platform.ts';
import { createMaskKey } from './mask.ts';
import { createMasker } from './masking.ts';
import { OwnRules } from './own-rules.ts';
import { RememberedValues } from './remembered-values.ts';
import { TextSecrets } from './text-secrets.ts';

const { sha256 } = createNodePlatform();
const key = createMaskKey({ sha256, key: 'k', seed: 's' });
const textSecrets = (): TextSecrets =>
  new TextSecrets({ own: new OwnRules([], undefined), left: new Set(), remembered: new RememberedValues() });

/** The text as it is stored, with `•` for every mask. */
function stored(text: string): string {
  const { data } = createMasker({}, { key })({ type: 'x.happened', data: { text } });
  return String(data?.['text']).replaceAll(/\[masked [a-z-]+ [0-9a-f]{6}-[0-9a-f]{8}\]/g, '•');
}

const openai = 'sk-proj-abcDEF1234567890abcDEF1234';

describe('secrets in text', () => {
  test.each([
    ['https://x.io/v1?api_key=abc&token=plain&q=1#top', 'https://x.io/v1?api_key=•&token=•&q=1#top'],
    ['next=https%3A%2F%2Fx%3Ftoken%3Dabc123%26q%3D1', 'next=https%3A%2F%2Fx%3Ftoken%3D•%26q%3D1'],
    ['pwd=swordfish', 'pwd=•'],
    ['export PGPASSWORD=abc; psql -h db', 'export PGPASSWORD=•; psql -h db'],
    ['Server=db;Password=P@ss,word;Encrypt=true', 'Server=db;Password=•;Encrypt=true'],
    ['--password hunter2 --api-key=abc -v', '--password • --api-key=• -v'],
    ['password: hunter2', 'password: •'],
    ["{'password': 'hunter2', 'a': 1}", "{'password': '•', 'a': 1}"],
    ['token = "hunter2"', 'token = "•"'],
    ['<Password>hunter2</Password>', '<Password>•</Password>'],
    ['Authorization: Token hunter2', 'Authorization: Token •'],
    ["curl -H 'Cookie: a=b; sid=1' x", "curl -H 'Cookie: •' x"],
    ['X-Api-Key: abc-1\r\nHost: x', 'X-Api-Key: •\r\nHost: x'],
  ])('a name decides about the value behind it: %s', (text, expected) => {
    expect(stored(text)).toBe(expected);
    expect(stored(expected)).toBe(expected);
  });

  test.each([
    ['curl -u admin:s3cret https://x.io', 'curl -u admin:• https://x.io'],
    ["curl --user 'admin:my pass' https://x", "curl --user 'admin:•' https://x"],
    ['curl -X POST \\\n  -u bob:pw \\\n  https://h', 'curl -X POST \\\n  -u bob:• \\\n  https://h'],
    ['["curl","-u","bob:pw"]', '["curl","-u","bob:•"]'],
    ['mysql -u root -phunter2 shop', 'mysql -u root -p• shop'],
    ['sshpass -p hunter2 ssh x; redis-cli -a pw get k', 'sshpass -p • ssh x; redis-cli -a • get k'],
    ['docker run -u 1000:1000 x', 'docker run -u 1000:1000 x'],
  ])('a command that takes a password: %s', (text, expected) => {
    expect(stored(text)).toBe(expected);
  });

  test.each([
    ['redis://:pw@h:6379/0', 'redis://:•@h:6379/0'],
    ['postgres://app:p@ss/w0rd@db.example:5432/x', 'postgres://app:•@db.example:5432/x'],
    ['postgres://app:12/34@db/x?user=a@b', 'postgres://app:•@db/x?user=a@b'],
    ['mysql://root:p#w?d@h/x', 'mysql://root:•@h/x'],
    ['postgres://user@tenant:pw@host/db', 'postgres://user@tenant:•@host/db'],
    ['https://u:p@ss@host.io/x', 'https://u:•@host.io/x'],
    ['https://u:p@packages.example/@scope/pkg', 'https://u:•@packages.example/@scope/pkg'],
    [
      'https://example.com:8080/users/@bob or bob@example.com',
      'https://example.com:8080/users/@bob or bob@example.com',
    ],
    ['https://x.io/a:b@c', 'https://x.io/a:b@c'],
  ])('the password of an address: %s', (text, expected) => {
    expect(stored(text)).toBe(expected);
  });

  test.each([
    [`line\\n${openai} x`, 'line\\n• x'],
    [`a\\u000a${openai}`, 'a\\u000a•'],
    [`q=1%20${openai}`, 'q=1%20•'],
    [`\u{1b}[31m${openai}\u{1b}[0m`, '\u{1b}[31m•\u{1b}[0m'],
    ['A=1\\nOPENAI_API_KEY=abc\\nB=2', 'A=1\\nOPENAI_API_KEY=•\\nB=2'],
    [`ask-${openai.slice(3)}`, `ask-${openai.slice(3)}`],
  ])('an escape is no part of the word behind it: %j', (text, expected) => {
    expect(stored(text)).toBe(expected);
  });

  test.each([
    'password: string; token?: string',
    'const token = await getToken(); const password = req.body.password;',
    'login(password=password, token=self.token, api_key=os.environ["KEY"], secret=SECRET)',
    'TOKEN=$TOKEN PASSWORD=${PASSWORD} KEY=$(cat key) curl -u $USER:$PASSWORD',
    'password: "Enter your password"; api_key=<your key>; token: {{token}}',
    'The password: it must be long. The token: a unit of text. Bearer authentication, basic information.',
    'max_tokens=100, eos_token="</s>", tokens: 5, key: value, primary_key=1',
    'PWD=/srv/projects/app OLDPWD=/srv',
    'postgres://app:${PASSWORD}@db/x and https://user:<password>@host',
  ])('code, settings and prose are left alone: %s', (text) => {
    expect(stored(text)).toBe(text);
  });
});

describe('JSON inside text is masked as JSON', () => {
  test.each([
    ['{"user":"bob","password":"hunter2","n":1.50}', '{"user":"bob","password":"•","n":1.50}'],
    [
      'Result: {"pin":1,"credentials":{"user":"x","n":9}} ok',
      'Result: {"pin":1,"credentials":{"user":"•","n":"•"}} ok',
    ],
    ['{"a":1,"password":12345678}\n{"secret":[1,"b"]}', '{"a":1,"password":"•"}\n{"secret":["•","•"]}'],
    ['{"name":"DB_PASSWORD","value":"hunter2"}', '{"name":"DB_PASSWORD","value":"•"}'],
    [JSON.stringify('{"password":"hun\\"ter","secret":7}'), '"{\\"password\\":\\"•\\",\\"secret\\":\\"•\\"}"'],
    [JSON.stringify({ a: JSON.stringify({ b: JSON.stringify({ token: 'x' }) }) }), undefined],
    ['data: {"a":"b","api_key":"zz', 'data: {"a":"b","api_key":"•'],
    ['log: {\\"password\\":\\"x1\\",\\"n\\":3}', 'log: {\\"password\\":\\"•\\",\\"n\\":3}'],
    [`{"k":"\\u0073${openai.slice(1)}"}`, '{"k":"•"}'],
    ['{"u":"redis:\\/\\/:pw@h\\/0"}', '{"u":"redis:\\/\\/:•@h\\/0"}'],
    ['{"token":"Hello there","logprob":-0.1}', '{"token":"Hello there","logprob":-0.1}'],
    ['{"properties":{"password":{"type":"string"}}}', '{"properties":{"password":{"type":"string"}}}'],
  ])('%s', (text, expected) => {
    const result = stored(text);
    if (expected !== undefined) expect(result).toBe(expected);
    else expect(result).toMatch(/^\{"a":"\{\\"b\\":\\"\{\\\\\\"token\\\\\\":\\\\\\"•\\\\\\"\}\\"\}"\}$/);
  });

  test('what was JSON is JSON, with every other value as it was, and a second time changes nothing', () => {
    const json = fc.jsonValue({ maxDepth: 4 });
    fc.assert(
      fc.property(json, json, fc.string(), (value, other, secret) => {
        const text = JSON.stringify({ value, password: secret, inside: JSON.stringify({ token: secret, other }) });
        const masked = stored(text);
        const read = JSON.parse(masked) as Record<string, unknown>;
        const plain = JSON.parse(stored(JSON.stringify(value))) as unknown;
        const others = JSON.stringify([value, other]);
        // A second copy of the secret is masked too.
        const isApart = secret === '' || !others.includes(JSON.stringify(secret).slice(1, -1));
        if (isApart && !/pass|pwd|secret|token|key|auth|cookie|credential|[:=]/i.test(others))
          expect(read['value']).toEqual(plain);
        expect(read['password']).toBe(secret === '' ? '' : '•');
        expect(JSON.parse(String(read['inside']))).toMatchObject({ token: secret === '' ? '' : '•' });
        expect(stored(masked)).toBe(masked);
      }),
    );
  });
});

/** Texts that nearly match, for every rule: repeated, they made a careless rule look at everything again and again. */
const nearMatches: readonly string[] = [
  'eyJ-',
  'eyJabcdefgh.',
  'eyJabcdefgh.eyJabcdefgh.',
  'sk-',
  'sk-ant-',
  'ghp_abc',
  'github_pat_',
  'xoxb-1',
  'AKIAABCDEFGHIJKLMNOP1',
  'npm_',
  '-----BEGIN PRIVATE KEY',
  '-----BEGIN A PRIVATE KEY-----',
  '-----BEGIN A PRIVATE KEY----------END ',
  'Bearer ',
  'bearer abc ',
  '://',
  'a://b:c',
  'a://b:c/@',
  'a://@:',
  'password=',
  'password="',
  "token='$",
  'token=$TOKEN ',
  'password:"\\',
  '\\"password\\":\\"',
  'secret: ',
  'x-secret-',
  'Cookie: a=',
  'Authorization: Bearer ',
  '<password>',
  '--password ',
  'curl -u ',
  'curl -u a:',
  'mysql -p',
  '{"a":',
  '{"password":',
  '[',
  '["',
  '{"a":"\\u0041',
  '\\',
  '"',
  '%3D',
  'aB3dE5gH7jK9mN1pQ3sT5vW7',
  'aB3-',
  '[masked a ',
  '[masked jwt abcdef-12345678]',
];

/** How many characters the rules look at for each character of a text. */
function stepsPerUnit(text: string): number {
  const secrets = textSecrets();
  secrets.spansIn(text, true);
  return secrets.effort / text.length;
}

describe('I9 the work of every built-in rule is linear in its text', () => {
  test.each(nearMatches)('%j, repeated', (near) => {
    const [short, long] = [4_000, 64_000].map((units) => stepsPerUnit(near.repeat(Math.ceil(units / near.length))));
    expect(short).toBeGreaterThanOrEqual(1);
    expect(long).toBeLessThan((short ?? 0) * 1.5 + 2);
  });

  test('and so it is for any mixture of them', () => {
    const mixture = fc.array(fc.constantFrom(...nearMatches, ' ', '\n', 'a', '@', '.', '}', ']', ','), {
      minLength: 1,
      maxLength: 6,
    });
    fc.assert(
      fc.property(mixture, (parts) => {
        const near = parts.join('');
        const [short, long] = [2_000, 32_000].map((units) => stepsPerUnit(near.repeat(Math.ceil(units / near.length))));
        expect(long).toBeLessThan((short ?? 0) * 1.5 + 2);
      }),
      { numRuns: 100 },
    );
  });

  test('300 kB of a near match are searched while the test waits', () => {
    for (const near of nearMatches) textSecrets().spansIn(near.repeat(300_000 / near.length), true);
  });
});
