import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createNodePlatform } from '../../node/platform.ts';
import type { JsonInput } from '../json.ts';
import { limits } from '../limits.ts';
import { createMaskKey } from './mask.ts';
import { createMasker } from './masking.ts';
import { builtInRules, type MaskingOptions } from './masking-options.ts';

const { sha256 } = createNodePlatform();

function masked(data: JsonInput, options: MaskingOptions = {}, key = 'k'): JsonInput {
  return (
    createMasker(options, { key: createMaskKey({ sha256, key, seed: 's' }) })({ type: 'x.happened', data }).data ?? {}
  );
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
    expect(JSON.stringify(data)).toMatch(new RegExp(`Use \\[masked ${rule} [0-9a-f]{6}-[0-9a-f]{8}\\], please`));
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
    expect(data['text']).toMatch(
      /^postgres:\/\/app:\[masked url-password [0-9a-f]{6}-[0-9a-f]{8}\]@db\.example:5432\/x and/,
    );
    expect(data['text']).toContain('https://example.com/a:b@c');
  });

  test('text that looks random, in headers, environment and arguments only', () => {
    const lot = 'aB3dE5gH7jK9mN1pQ3sT5vW7';
    const elsewhere = { output: lot, message: { content: lot }, input: { tool_call_id: lot } };
    expect(masked(elsewhere)).toEqual(elsewhere);
    for (const where of ['input', 'headers', 'env', 'arguments']) {
      const data = masked({ [where]: { custom: lot } });
      expect(data['masked'], where).toEqual(['high-entropy']);
      expect(JSON.stringify(data), where).not.toContain(lot);
    }
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

test('every built-in rule is named, and can be left out', () => {
  const used = Object.keys(secrets);
  const others = ['secret-field', 'command-password', 'bearer-token', 'url-password', 'high-entropy'];
  expect([...builtInRules].sort()).toEqual([...used, ...others].sort());
  const text = `pwd=abc; curl -u a:bcd; Bearer abc123def; redis://:pw@h; ${Object.values(secrets).join(' ')}`;
  const data = { text, input: { nonce: 'aB3dE5gH7jK9mN1pQ3sT5vW7' } };
  expect(masked(data)['masked']).toEqual([...builtInRules].sort());
  expect(masked(data, { except: builtInRules })).toEqual(data);
  for (const rule of builtInRules) expect(masked(data, { except: [rule] })['masked'], rule).not.toContain(rule);
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
    const data = { usage: { inputTokens: 5 }, maxTokens: 100, settings: { max_tokens: 10 }, tests: { pass: 12 } };
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
      expect.stringMatching(/^--api-key=\[masked secret-field [0-9a-f]{6}-[0-9a-f]{8}\]$/),
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

describe('a value of 8 or more characters that was masked once', () => {
  const secret = 'correct-horse';
  const recorder = (): ((data: JsonInput) => string) => {
    const mask = createMasker({}, { key: createMaskKey({ sha256, key: 'k', seed: 's' }) });
    return (data) => JSON.stringify(mask({ type: 'x.happened', data }).data);
  };

  test('is masked everywhere in its event, also before the place that gave it away, and in everything after', () => {
    const stored = recorder();
    const first = stored({ text: `It is ${secret}.`, list: [`x${secret}y`, { [secret]: 1 }], password: secret });
    expect(first).not.toContain(secret);
    const later = stored({
      text: `${'long '.repeat(100)}${secret}`,
      json: JSON.stringify({ a: JSON.stringify({ b: secret }) }),
      url: `https://x/${encodeURIComponent(secret)}`,
    });
    expect(later).not.toContain(secret);
    expect(recorder()({ text: secret })).toContain(secret);
  });

  test('is masked in a long text that was seen before it was known', () => {
    const stored = recorder();
    const text = `${'long '.repeat(100)}${secret}`;
    expect(stored({ text })).toContain(secret);
    stored({ password: secret });
    expect(stored({ text })).not.toContain(secret);
  });

  test('is masked again in a long text that gave it away itself', () => {
    const stored = recorder();
    const text = `${'long '.repeat(100)}It is ${secret}. {"password":"${secret}"}`;
    expect(stored({ text })).not.toContain(secret);
    expect(stored({ text })).not.toContain(secret);
  });

  test('is found with the escapes of JSON and of addresses, as a number, and as the value of a cookie', () => {
    const stored = recorder();
    stored({ password: 'a"b\\c/d e', secret: 4_111_111_111_111_111, headers: { cookie: 'sid=s123456789; Path=/' } });
    const later = stored({
      json: `{"x":"${JSON.stringify('a"b\\c/d e').slice(1, -1)}"`,
      url: `https://x/?q=${encodeURIComponent('a"b\\c/d e')}`,
      card: 4_111_111_111_111_111,
      text: 'the session s123456789',
    });
    expect(later).not.toMatch(/c\/d|%22b|4111|s1234/);
  });

  test('is not a word of protocols, a part of credentials that names a host, or a token of a model', () => {
    const stored = recorder();
    stored({ auth: 'required', credentials: { host: 'db.example.com', user: 'postgres', password: 'p' } });
    stored({ logprobs: [{ token: ' customer', logprob: -0.1 }] });
    const data = { toolChoice: 'required', text: 'The customer is on db.example.com as postgres' };
    expect(stored(data)).toBe(JSON.stringify(data));
  });

  test('leaves roles, types, ids and the words of events as they are', () => {
    const stored = recorder();
    const id = 'aB3dE5gH7jK9mN1pQ3sT5vW7';
    stored({ passwords: ['assistant', 'tool-call', 'irreversible', id] });
    const data = {
      call: id,
      effect: 'irreversible',
      message: { role: 'assistant', content: [{ type: 'tool-call', toolCallId: id, toolName: 'irreversible' }] },
    };
    expect(stored(data)).toBe(JSON.stringify(data));
  });

  test('is forgotten when there are too many, and not remembered if it is too long', () => {
    const stored = recorder();
    const long = 'aB3 '.repeat(limits.maskedValueUnitsMax / 4 + 1);
    stored({ password: long });
    expect(stored({ text: long })).toContain(long);
    stored({ password: secret });
    for (let count = 0; count < limits.maskedValuesMax; count++) stored({ password: `password-${count}` });
    expect(stored({ text: `${secret} password-${limits.maskedValuesMax - 1}` })).toMatch(/^\{"text":"correct-horse \[/);
  });
});

describe('numbers and nested values in fields of secrets', () => {
  test('are masked, except flags, and what makes parts readable', () => {
    const data = masked({
      token: 7,
      credentials: { type: 'basic', user: 'bob', pins: [1, { a: 'x' }], ok: true, none: null },
      env: [
        { name: 'DB_PASSWORD', value: 'plain' },
        { value: 'plain', key: 'api_key' },
      ],
    });
    expect(JSON.stringify(data)).not.toMatch(/plain|bob|[:[]1|:7/);
    expect(data['credentials']).toMatchObject({ type: 'basic', ok: true, none: null });
  });

  test('are left alone in the description of a parameter', () => {
    const data = { tools: [{ parameters: { properties: { password: { type: 'string', minLength: 8 } } } }] };
    expect(masked(data)).toEqual(data);
  });

  test('PWD is the working directory, and a secret is one', () => {
    const data = masked({ env: { PWD: '/srv/app', MYSQL_PWD: 'plain', PGPASSWORD: 'plain', pwd: 'plain' } });
    expect(data['env']).toMatchObject({ PWD: '/srv/app' });
    expect(JSON.stringify(data)).not.toContain('plain');
  });

  test('a secret with a form is masked also where an id may stand, except in the ids of an event', () => {
    const secret = secrets['stripe-key'] as string;
    expect(JSON.stringify(masked({ input: { id: secret, session: secret } }))).not.toContain(secret);
    expect(masked({ call: secret })).toEqual({ call: secret });
  });
});

test('a mask names its key, which is not the seed of the session, and says nothing without it', () => {
  const text = masked({ password: '1984-04-04' })['password'];
  expect(text).toMatch(/^\[masked secret-field [0-9a-f]{6}-[0-9a-f]{8}\]$/);
  const other = masked({ password: '1984-04-04' }, {}, 'other')['password'];
  expect(String(other).slice(0, 27)).not.toBe(String(text).slice(0, 27));
  expect(String(text)).not.toContain(sha256('s\n1984-04-04').slice(0, 8));
});

test('the same secret has the same mask in a session, another in another, and masking twice changes nothing', () => {
  const data = { text: secrets['aws-key'] as string, headers: { authorization: 'Bearer xyz' } };
  expect(masked(data)).toEqual(masked(data));
  expect(masked(data)).not.toEqual(masked(data, {}, 'another'));
  const once = masked(data);
  expect(masked(once)).toEqual(once);
});

test('a text is masked the same whether it was seen before or not, and however many there were', () => {
  const mask = createMasker({}, { key: createMaskKey({ sha256, key: 'k', seed: 's' }) });
  const text = `${'word '.repeat(100)}${secrets['jwt']}`;
  const first = mask({ type: 'x.happened', data: { text } });
  expect(mask({ type: 'x.happened', data: { text } })).toEqual(first);
  const filler = 'x y '.repeat(500_000);
  for (let count = 0; count * filler.length <= limits.maskedTextsMax; count++)
    mask({ type: 'x.happened', data: { text: `${filler}${count}` } });
  expect(mask({ type: 'x.happened', data: { text } })).toEqual(first);
  // The place decides again, also for a text that was seen elsewhere.
  const random = `${'word '.repeat(100)}aB3dE5gH7jK9mN1pQ3sT5vW7`;
  expect(mask({ type: 'x.happened', data: { output: random } }).data).toEqual({ output: random });
  expect(mask({ type: 'x.happened', data: { input: random } }).data?.['input']).toContain('[masked high-entropy ');
});

test('data without secrets is given back as it is, and the given event is never changed', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
      const data = JSON.parse(JSON.stringify(value)) as JsonInput;
      const event = { type: 'x.happened', data };
      const before = JSON.stringify(event);
      const after = createMasker({}, { key: createMaskKey({ sha256, key: 'k', seed: 's' }) })(event);
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
])('a value that is not a rule is refused: %j', (rule, why) => {
  expect(() => masked({}, { rules: [rule] })).toThrow(expect.objectContaining({ code: 'config.invalid' }));
  expect(() => masked({}, { rules: [rule] })).toThrow(why);
});
