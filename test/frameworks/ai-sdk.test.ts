/** The AI SDK, recorded: the real `ai` package on models that say what they are told to. */
import { generateText, Output, stepCountIs, streamText, ToolLoopAgent } from 'ai';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { recordAgent, recordAiSdk, recordModel, recordTools, toPrompt } from '../../src/ai-sdk.ts';
import { conversation } from '../../src/index.ts';
import { asks, dataOf, eventsOf, openSession, said, scripted, tableOf, usage, weatherTools } from './ai-sdk-world.ts';

const loop = { stopWhen: stepCountIs(5) };
const toolStory = () => scripted([said(asks('weather', { city: 'Oslo' })), said('It is 7 degrees.')]);

test('generateText with a tool is one run: the user message once, two model calls, and the tool between them', async () => {
  await using world = await openSession();
  await using recorder = await world.session.record();
  const ai = recordAiSdk(recorder, { agent: 'guide', title: 'Weather' });
  const { text } = await ai.generateText({
    model: toolStory(),
    system: 'Be brief.',
    prompt: 'Weather in Oslo?',
    temperature: 0,
    tools: weatherTools(),
    ...loop,
  });
  expect(text).toBe('It is 7 degrees.');
  const events = await eventsOf(world.session);
  expect(tableOf(events)).toEqual([
    'run.started cause 0 turn 0',
    'message.added cause 1 turn 1',
    'call.started model mock-1 cause 1 turn 1',
    'call.ended model mock-1 ok cause 3 turn 1',
    'call.started tool weather cause 3 turn 1',
    'call.ended tool weather ok cause 5 turn 1',
    'call.started model mock-1 cause 1 turn 2',
    'call.ended model mock-1 ok cause 7 turn 2',
    'run.ended ok cause 1 turn 2',
  ]);
  expect(events.every(({ agent }) => agent === 'guide')).toBe(true);
  expect(dataOf(events, 'run.ended')[0]).toMatchObject({ result: 'It is 7 degrees.' });
});
