// AI SDK: record generateText, look at the moment before a mistake, fork it with a new prompt, resume it live.
// The model is the AI SDK's own mock, so it runs offline; a real model works the same way.
import { generateText, jsonSchema, type ModelMessage, stepCountIs, tool } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { conversation, openReprise } from 'reprise';
import { aiSdkAgent, recordAiSdk, toPrompt } from 'reprise/ai-sdk';

const usage = {
  inputTokens: { total: 9, noCache: 9, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 3, text: 3, reasoning: 0 },
};
/** Refunds 500, unless the prompt says to look at what was paid. */
const model = new MockLanguageModelV4({
  modelId: 'clerk-1',
  doGenerate: async ({ prompt }) => {
    const amount = JSON.stringify(prompt).includes('what was paid') ? 50 : 500;
    const input = JSON.stringify({ order: 7, amount });
    const isAnswered = prompt.at(-1)?.role === 'tool';
    const call = { type: 'tool-call', toolCallId: `refund-${amount}`, toolName: 'refund', input } as const;
    return {
      content: isAnswered ? [{ type: 'text', text: `Refunded ${amount}.` }] : [call],
      finishReason: { unified: isAnswered ? 'stop' : 'tool-calls', raw: undefined },
      usage,
      warnings: [],
    };
  },
});
const refund = tool({
  inputSchema: jsonSchema<{ order: number; amount: number }>({ type: 'object' }),
  execute: async ({ amount }) => ({ refunded: amount }),
});
const settings = { model, tools: { refund }, stopWhen: stepCountIs(5) };

await using reprise = await openReprise('memory:');
const session = await reprise.createSession('order-7');
const recorder = await session.record();
const ai = recordAiSdk(recorder);
const { text } = await ai.generateText({ ...settings, prompt: 'Order 7 broke. Refund it.' });
await recorder.close();
console.log(`recorded: ${text}`);

const found = await session.find({ types: ['call.started'], kind: 'tool' });
const asked = await found?.locate();
const seen = await session.at(`@before:${asked?.seq}`).fold(conversation);
console.log(`before the refund, the model had: ${JSON.stringify(toPrompt(seen).messages)}`);

const branch = await session.fork('main@2', { name: 'careful', prompt: 'Order 7 broke. Refund what was paid.' });
const resumed = await branch.resume(aiSdkAgent(settings), { run: { maxRetries: 1 } });
console.log(`resumed: ${resumed.result.text} (on "${resumed.branch}", ${resumed.result.steps.length} model calls)`);

// You can also continue the conversation of any branch with the AI SDK alone.
const prompt = toPrompt(await session.at('careful').fold(conversation));
const thanks: ModelMessage = { role: 'user', content: 'Thank you. Is it what was paid?' };
await generateText({ ...settings, ...prompt, messages: [...prompt.messages, thanks] });
console.log(
  `and on: ${model.doGenerateCalls
    .at(-1)
    ?.prompt.map(({ role }) => role)
    .join(' ')}`,
);
