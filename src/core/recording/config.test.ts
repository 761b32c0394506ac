import { describe, expect, test } from 'vitest';
import { RepriseError } from '../error.ts';
import type { ResumeContext } from './agent.ts';
import { agentKind, agentNamed, type Config, checkConfig, defineConfig } from './config.ts';

const file = '/project/reprise.config.ts';

function refusal(value: unknown): RepriseError {
  try {
    checkConfig(value, file);
  } catch (error) {
    if (error instanceof RepriseError) return error;
  }
  throw new Error('It was taken as a configuration');
}

describe('checkConfig()', () => {
  test('takes what defineConfig() can be given', () => {
    const config = defineConfig({
      store: 'memory:',
      namespace: 'team',
      agents: {
        plain: async ({ prompt }) => prompt,
        made: async () => async (context: ResumeContext) => context.branch,
      },
      prices: { own: { input: 1, output: 2 } },
      masking: { rules: [{ name: 'order', pattern: /ORD-\d+/ }], except: ['jwt'] },
    });
    expect(checkConfig(config, file)).toBe(config);
    expect(checkConfig({ masking: false, store: undefined }, file)).toEqual({ masking: false });
  });

  test.each<[unknown, string, RegExp]>([
    [{ stores: 'memory:' }, 'stores', /there is no such field/],
    [{ store: 7 }, 'store', /it is not a string/],
    [{ namespace: 'a\nb' }, 'namespace', /control character/],
    [{ agents: [] }, 'agents', /not an object of agents/],
    [{ agents: { a: 'gpt' } }, 'agents.a', /a value of type string is not an agent/],
    [{ agents: { a: null } }, 'agents.a', /null is not an agent/],
    [{ prices: { m: { input: 1 } } }, 'prices.m.output', /"output" of "m" is not a number of dollars/],
    [{ masking: [] }, 'masking', /it is not an object/],
    [{ masking: { rule: [] } }, 'masking.rule', /there is no such field/],
    [{ masking: { rules: {} } }, 'masking.rules', /not a list of rules/],
    [{ masking: { rules: [{ name: 'a' }] } }, 'masking.rules[0]', /neither "pattern" nor "fields"/],
    [{ masking: { except: ['jtw'] } }, 'masking.except', /no built-in rule "jtw"/],
  ])('refuses %j and names the file and the field %s', (value, field, why) => {
    const error = refusal(value);
    expect([error.code, error.details]).toEqual(['config.invalid', { file, field }]);
    expect(error.message).toContain(`Cannot use "${field}" of "${file}": `);
    expect(error.message).toMatch(why);
  });

  test.each([[null], [[]], ['memory:'], [undefined]])('refuses %j, which is not a configuration at all', (value) => {
    expect(refusal(value)).toMatchObject({ code: 'config.invalid', details: { file } });
  });
});

describe('agentNamed()', () => {
  const config: Config = {
    agents: {
      plain: async (context) => context.branch,
      made: async () => ({ framework: 'own', resume: async () => 'made' }),
      wrong: (async () => 'an answer') as never,
      adapted: { framework: 'ai-sdk', resume: async () => 1 },
    },
  };

  test('gives a function of the context and an adapted agent as they are, and makes what is made when needed', async () => {
    expect(await agentNamed(config, 'plain', file)).toBe(config.agents?.['plain']);
    expect(await agentNamed(config, 'adapted', file)).toBe(config.agents?.['adapted']);
    expect(await agentNamed(config, 'made', file)).toMatchObject({ framework: 'own' });
  });

  test('refuses a name that is not there, Object.prototype included, and says which are', async () => {
    for (const name of ['plian', 'toString', '__proto__'])
      await expect(agentNamed(config, name, file)).rejects.toMatchObject({
        code: 'agent.not-found',
        hint: 'Use one of: plain, made, wrong, adapted.',
      });
  });

  test('refuses a function without parameters that gives something else than an agent', async () => {
    await expect(agentNamed(config, 'wrong', file)).rejects.toMatchObject({
      code: 'config.invalid',
      details: { file, field: 'agents.wrong' },
    });
  });

  test('agentKind() tells how each is given', () => {
    const kinds = Object.values(config.agents ?? {}).map(agentKind);
    expect(kinds).toEqual(['function', 'made when needed', 'made when needed', 'ai-sdk']);
  });
});
