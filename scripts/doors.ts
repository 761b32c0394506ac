/** The doors of the package: what can be imported, where it is in the source, and what its examples find. */

/** One door. */
export interface Door {
  readonly file: string;
  /** The introduction of its page, whose links lead from the folder of the pages; the main door's page has its own. */
  readonly about?: string;
  /** Imports that examples behind this door find, besides everything the package exports. */
  readonly imports?: readonly string[];
}

/** Every door by the name it is imported under. */
export const doors: Readonly<Record<string, Door>> = {
  reprise: { file: 'src/index.ts' },
  'reprise/coding': {
    file: 'src/coding.ts',
    about: 'The types of coding sessions: what `session.coding` takes and returns.',
  },
  'reprise/fleet': {
    file: 'src/fleet.ts',
    about: 'The types of fleets: what `session.beliefs`, `session.fleet` and `branch.runForward` take and return.',
  },
  'reprise/results': {
    file: 'src/results.ts',
    about: 'The types inside arguments and results that a program rarely names.',
  },
  'reprise/store': {
    file: 'src/store.ts',
    about:
      'The store port: the types that an `EventStore` is made of, and the judgement that every store shares; see [bring your own store](../../guides/own-store.md).',
  },
  'reprise/server': {
    file: 'src/server.ts',
    about: 'Serves a store to many machines, and makes the tokens for it; see [serve a store](../../guides/serve.md).',
  },
  'reprise/testing': {
    file: 'src/testing.ts',
    about: 'The suites that prove a store, for any test runner; see [bring your own store](../../guides/own-store.md).',
  },
  'reprise/protocols': {
    file: 'src/protocols.ts',
    about:
      "Reads and writes the protocols of model providers: their requests, messages, answers and streams in the neutral form; see [recording a provider's client](../../guides/record.md#a-providers-client).",
    imports: [],
  },
  'reprise/openai': {
    file: 'src/openai.ts',
    about:
      "Records OpenAI's client, and resumes loops over it; see [recording a provider's client](../../guides/record.md#a-providers-client).\nIn the examples `client` is a client of the package `openai`.",
    imports: [`import { client } from '{root}test/docs/example-openai.ts';`],
  },
  'reprise/anthropic': {
    file: 'src/anthropic.ts',
    about:
      "Records Anthropic's client, and resumes loops over it; see [recording a provider's client](../../guides/record.md#a-providers-client).\nIn the examples `client` is a client of the package `@anthropic-ai/sdk`.",
    imports: [`import { client } from '{root}test/docs/example-anthropic.ts';`],
  },
  'reprise/gemini': {
    file: 'src/gemini.ts',
    about:
      "Records Google's client of Gemini, and resumes loops over it; see [recording a provider's client](../../guides/record.md#a-providers-client).\nIn the examples `client` is a client of the package `@google/genai`.",
    imports: [`import { client } from '{root}test/docs/example-gemini.ts';`],
  },
  'reprise/ai-sdk': {
    file: 'src/ai-sdk.ts',
    about:
      'Records the models, tools and agents of the AI SDK, and resumes them; see [coming from the AI SDK](../../coming-from/ai-sdk.md).\nIn the examples `model` is any model of the AI SDK, and the names of the AI SDK are imported from `ai`.',
    imports: [
      `import { generateText, jsonSchema, tool, ToolLoopAgent } from 'ai';`,
      `import { model } from '{root}test/docs/example-model.ts';`,
    ],
  },
  'reprise/openai-agents': {
    file: 'src/openai-agents.ts',
    about:
      'Records runs of OpenAI Agents JS, and resumes them; see [coming from OpenAI Agents](../../coming-from/openai-agents.md).\nIn the examples `support` is an agent, `runner` and `provider` are where its models come from, and the names of the framework are imported from `@openai/agents`.',
    imports: [
      `import { MemorySession, Runner } from '@openai/agents';`,
      `import { provider, runner, support } from '{root}test/docs/example-runner.ts';`,
    ],
  },
  'reprise/mcp': {
    file: 'src/mcp.ts',
    about:
      'Records connections of the Model Context Protocol; see [coming from MCP](../../coming-from/mcp.md).\nIn the examples `client` is a client, and `transport` leads to its server.',
    imports: [`import { client, transport } from '{root}test/docs/example-transport.ts';`],
  },
  'reprise/langgraph': {
    file: 'src/langgraph.ts',
    about:
      'Keeps what LangGraph saves, records what its graphs do, and resumes them; see [coming from LangGraph](../../coming-from/langgraph.md).\nIn the examples the names of LangChain and LangGraph are imported from their packages.',
    imports: [
      `import { MessagesAnnotation, StateGraph } from '@langchain/langgraph';`,
      `import { ToolNode } from '@langchain/langgraph/prebuilt';`,
      `import { AIMessage, HumanMessage } from '@langchain/core/messages';`,
      `import { tool } from '@langchain/core/tools';`,
      `import { FakeListChatModel } from '@langchain/core/utils/testing';`,
    ],
  },
};
