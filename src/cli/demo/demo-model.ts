import type { ModelScript, ScriptedRequest } from '../../testing/model-server/script.ts';

/** The system prompt of the agent when it first runs. */
export const hasty = 'You are a support agent. Resolve refunds quickly.';

/** The system prompt that fixes the bug. */
export const careful = 'You are a support agent. Look the order up before you refund it.';

/** The message of the customer. */
export const complaint = 'Order 7, the 500 ml mug, arrived broken. Please refund it.';

/**
 * The scripted model of the demo. If the prompt says to look up the order, it does; otherwise it takes the first number
 * that looks like an amount. So any better prompt changes the outcome, including the user's own.
 */
export const demoModel: ModelScript = [
  { when: { answered: 'refund' }, reply: ({ results }) => ({ text: answerText(results[0]?.output) }) },
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

/** Guesses the amount: the last number that is not the order, here the size of the mug. */
function guess({ prompt }: ScriptedRequest): number {
  return Number(prompt.match(/(?<!order )\b\d+/gi)?.at(-1) ?? 0);
}

function paidIn({ results }: ScriptedRequest): number {
  const { paid } = JSON.parse(String(results[0]?.output)) as { readonly paid: number };
  return paid;
}

function answerText(output: unknown): string {
  const { refunded } = JSON.parse(String(output)) as { readonly refunded: number };
  return `I refunded ${refunded}. Sorry for the trouble!`;
}
