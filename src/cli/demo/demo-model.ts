import type { ModelScript, ScriptedRequest } from '../../testing/model-server/script.ts';

/** What the agent of the story is told when it first runs. */
export const hasty = 'You are a support agent. Resolve refunds quickly.';

/** What it should have been told. */
export const careful = 'You are a support agent. Look the order up before you refund it.';

/** What the customer writes. */
export const complaint = 'Order 7, the 500 ml mug, arrived broken. Please refund it.';

/**
 * The model of the story. It does what it is told and no more: told to look the order up it does, told nothing it takes
 * the first number that looks like an amount. So a better prompt changes what happens, whoever writes it.
 */
export const demoModel: ModelScript = [
  { when: { answered: 'refund' }, reply: ({ results }) => ({ text: told(results[0]?.output) }) },
  {
    when: { answered: 'lookup' },
    reply: (request) => ({
      toolCalls: [{ name: 'refund', input: { order: orderIn(request), amount: paidIn(request) } }],
    }),
  },
  {
    when: ({ system, prompt }) => /\b(look|check|verify)/i.test(`${system} ${prompt}`) && /refund/i.test(prompt),
    reply: (request) => ({ toolCalls: [{ name: 'lookup', input: { order: orderIn(request) } }] }),
  },
  {
    when: { text: /refund/i },
    reply: (request) => ({
      toolCalls: [{ name: 'refund', input: { order: orderIn(request), amount: guess(request) } }],
    }),
  },
  { reply: { text: 'How can I help you with your order?' } },
];

const orderIn = ({ prompt }: ScriptedRequest): number => Number(/order (\d+)/i.exec(prompt)?.[1] ?? 0);

/** The amount is the last number that is no order: here, of the mug. */
function guess({ prompt }: ScriptedRequest): number {
  return Number(prompt.match(/(?<!order )\b\d+/gi)?.at(-1) ?? 0);
}

function paidIn({ results }: ScriptedRequest): number {
  const { paid } = JSON.parse(String(results[0]?.output)) as { readonly paid: number };
  return paid;
}

function told(output: unknown): string {
  const { refunded } = JSON.parse(String(output)) as { readonly refunded: number };
  return `I refunded ${refunded}. Sorry for the trouble!`;
}
