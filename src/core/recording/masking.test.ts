import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createNodePlatform } from '../../node/platform.ts';
import type { JsonInput } from '../json.ts';
import { limits } from '../limits.ts';
import { createMasker, type MaskingOptions } from './masking.ts';

const { sha256 } = createNodePlatform();

function masked(data: JsonInput, options: MaskingOptions = {}, key = 'k'): JsonInput {
  return createMasker(options, { sha256, key })({ type: 'x.happened', data }).data ?? {};
}

const jwt = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U';
const secrets: Readonly<Record<string, string>> = {
  'openai-key': 'sk-proj-abcDEF1234567890abcDEF1234',
  'anthropic-key': 'sk-ant-api03-abcDEF1234567890abcDEF1234',
  'github-token': 'ghp_abcdefghijklmnopqrstuvwxyz0123456789',
  'gitlab-token': 'glpat-abcdefghij1234567890',
  'slack-token': 'xoxb-1234567890-abcdef',
  'stripe-key': 'sk_live_abcdefghij1234567890',
  'aws-key': 'AKIAIOSFODNN7EXAMPLE',
  'google-key': 'AIzaSyA1234567890abcdefghijklmnopqrstuv',
  'hugging-face-token': 'hf_abcdefghijklmnopqrstuvwxyz012345',
  'npm-token': 'npm_abcdefghijklmnopqrstuvwxyz0123456789',
  jwt,
  'private-key': '-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\n-----END RSA PRIVATE KEY-----',
};

describe('what is masked', () => {
  test.each(Object.entries(secrets))('%s, anywhere in text, named on the event', (rule, secret) => {
    const data = masked({ message: { role: 'user', content: `Use ${secret}, please. ${secret}` }, deep: [[secret]] });
    expect(JSON.stringify(data)).not.toContain(secret.slice(4, 20));
    expect(data['masked']).toEqual([rule]);
    expect(JSON.stringify(data)).toMatch(new RegExp(`Use \\[masked ${rule} [0-9a-f]{8}\\], please`));
  });

  test('values of fields whose names say so, with their scheme', () => {
    const data = masked({
      headers: { Authorization: 'Bearer abc.def', 'x-api-key': 'plain', cookie: 'a=b', accept: 'text/html' },
      env: { OPENAI_API_KEY: 'plain', DB_PASSWORD: 'hunter2', HOME: '/root', clientSecret: 's' },
    });
    expect(data).toMatchObject({ headers: { accept: 'text/html' }, env: { HOME: '/root' }, masked: ['secret-field'] });
    expect(JSON.stringify(data)).not.toMatch(/abc\.def|plain|a=b|hunter2/);
    expect((data['headers'] as JsonInput)['Authorization']).toMatch(/^Bearer \[masked/);
  });

  test('passwords in addresses, and only they', () => {
    const data = masked({ text: 'postgres://app:s3cret@db.example:5432/x and https://example.com/a:b@c' });
    expect(data['text']).toMatch(/^postgres:\/\/app:\[masked url-password [0-9a-f]{8}\]@db\.example:5432\/x and/);
    expect(data['text']).toContain('https://example.com/a:b@c');
  });

  test('text that looks random, in headers, environment and arguments only', () => {
    const lot = 'aB3dE5gH7jK9mN1pQ3sT5vW7';
    const data = masked({ input: { key: lot }, headers: { 'x-custom': lot }, output: lot, message: { content: lot } });
    expect(data).toMatchObject({ output: lot, message: { content: lot }, masked: ['high-entropy'] });
    expect(JSON.stringify([data['input'], data['headers']])).not.toContain(lot);
  });

  test('what a user adds, by pattern, group or field, whatever the flags', () => {
    const rules = [
      { name: 'customer', pattern: /CUST-\d+/y },
      { name: 'pin', pattern: /pin is (\d+)/i },
      { name: 'iban', fields: ['IBAN'] },
    ];
    const data = masked({ text: 'CUST-1 and CUST-2, PIN is 1234', iban: 'DE00' }, { rules });
    expect(data['masked']).toEqual(['customer', 'iban', 'pin']);
    expect(JSON.stringify(data)).not.toMatch(/CUST-|1234|DE00/);
    expect(data['text']).toMatch(/PIN is \[masked pin/);
  });
});

describe('what is left alone', () => {
  test.each([
    'How many tokens does the api key rotation secret take?',
    '/srv/projects/MyApp2024/source/getOrderById2Factory.ts',
    '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    '0199a000-0000-7000-8000-000000000001',
    'getUserAccountByIdentifier2Factory',
    'task-sk-1 and sk-short',
    '2026-11-15T10:00:00.123Z',
  ])('%s', (text) => {
    expect(masked({ text, input: { path: text } })).toEqual({ text, input: { path: text } });
  });

  test('T11 ids of protocols, which matching, forking and hashing depend on', () => {
    const data = {
      call: 'aB3dE5gH7jK9mN1pQ3sT5vW7',
      input: { tool_call_id: 'aB3dE5gH7jK9mN1pQ3sT5vW7', ref: 'toolu_01AbCdEf2GhIjKl3MnOpQr4St' },
      headers: { 'mcp-session-id': 'aB3dE5gH7jK9mN1pQ3sT5vW7' },
    };
    expect(masked(data)).toEqual(data);
  });

  test('numbers, token counts, and rules that were left out', () => {
    const data = { usage: { inputTokens: 5 }, maxTokens: 100, settings: { max_tokens: 10, token: 7 } };
    expect(masked(data)).toEqual(data);
    const key = { text: secrets['openai-key'] as string };
    expect(masked(key, { except: ['openai-key'] })).toEqual(key);
  });
});

describe('what hides where ids, numbers and names of options stand', () => {
  test('free text in a field that is named like an id is searched', () => {
    const secret = secrets['anthropic-key'] as string;
    for (const name of ['task', 'event', 'run', 'session', 'call', 'id'])
      expect(JSON.stringify(masked({ input: { [name]: `Deploy it with ${secret}` } })), name).not.toContain(secret);
  });

  test('a field that is named like a secret is masked, whatever its value looks like', () => {
    const data = masked({ input: { password: 'run-forest-run', token: 'file_cabinet' } });
    expect(JSON.stringify(data)).not.toMatch(/forest|cabinet/);
  });

  test('a field of a rule is masked whole: numbers, lists and what is inside it', () => {
    const rules = [{ name: 'card', fields: ['card'] }];
    const data = masked(
      { input: { card: 4111111111111111 }, card: [{ number: '4242', year: 2031 }], ok: 7 },
      { rules },
    );
    expect(JSON.stringify(data)).not.toMatch(/4111|4242|2031/);
    expect(data).toMatchObject({ ok: 7, masked: ['card'] });
  });

  test('arguments of a program that are named like secrets, with and without an equals sign', () => {
    const program = {
      command: 'node',
      arguments: ['agent.js', '--api-key=plain1', '--password', 'plain2', '-v', 'x=1'],
    };
    const data = masked({ program, env: ['DB_PASSWORD=plain3', 'HOME=/root'] });
    expect(JSON.stringify(data)).not.toMatch(/plain\d/);
    expect(data).toMatchObject({ env: [expect.anything(), 'HOME=/root'], masked: ['secret-field'] });
    expect((data['program'] as JsonInput)['arguments']).toEqual([
      'agent.js',
      expect.stringMatching(/^--api-key=\[masked secret-field [0-9a-f]{8}\]$/),
      '--password',
      expect.stringMatching(/^\[masked/),
      '-v',
      'x=1',
    ]);
    expect(masked(data)).toEqual(data);
  });

  test('a secret that is the name of a field', () => {
    const secret = secrets['github-token'] as string;
    expect(JSON.stringify(masked({ output: { [secret]: true } }))).not.toContain(secret);
  });
});

test('the same secret has the same mask in a session, another in another, and masking twice changes nothing', () => {
  const data = { text: secrets['aws-key'] as string, headers: { authorization: 'Bearer xyz' } };
  expect(masked(data)).toEqual(masked(data));
  expect(masked(data)).not.toEqual(masked(data, {}, 'another'));
  const once = masked(data);
  expect(masked(once)).toEqual(once);
});

test('a text is masked the same whether it was seen before or not, and however many there were', () => {
  const mask = createMasker({}, { sha256, key: 'k' });
  const text = `${'word '.repeat(100)}${secrets['jwt']}`;
  const first = mask({ type: 'x.happened', data: { text } });
  expect(mask({ type: 'x.happened', data: { text } })).toEqual(first);
  const filler = 'x y '.repeat(500_000);
  for (let count = 0; count * filler.length <= limits.maskedTextsMax; count++)
    mask({ type: 'x.happened', data: { text: `${filler}${count}` } });
  expect(mask({ type: 'x.happened', data: { text } })).toEqual(first);
  // Where it stands decides again, also for a text that was seen elsewhere.
  const lot = `${'word '.repeat(100)}aB3dE5gH7jK9mN1pQ3sT5vW7`;
  expect(mask({ type: 'x.happened', data: { output: lot, input: lot } }).data).toMatchObject({ output: lot });
});

test('data without secrets is given back as it is, and the given event is never changed', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
      const data = JSON.parse(JSON.stringify(value)) as JsonInput;
      const event = { type: 'x.happened', data };
      const before = JSON.stringify(event);
      const after = createMasker({}, { sha256, key: 'k' })(event);
      expect(JSON.stringify(event)).toBe(before);
      if (after.data?.['masked'] === data['masked']) expect(after).toBe(event);
    }),
  );
});

test.each([
  [{ name: 'a b', fields: ['x'] }, 'its name'],
  [{ name: 'a' }, 'neither'],
  [{ name: 'a', pattern: 'x' as never }, 'regular expression'],
  [{ name: 'a', fields: 'x' as never }, 'list of names'],
])('a rule that is none is refused: %j', (rule, why) => {
  expect(() => masked({}, { rules: [rule] })).toThrow(expect.objectContaining({ code: 'config.invalid' }));
  expect(() => masked({}, { rules: [rule] })).toThrow(why);
});
