/** Sources in every format, written by hand in the shapes that the tools write. */

const lines = (...values: readonly unknown[]): string => `${values.map((value) => JSON.stringify(value)).join('\n')}\n`;
const pretty = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
const long = 'The connection pool is exhausted: every worker waits for a connection that a worker holds. '.repeat(3);

const at = (second: number): string => `2026-01-14T01:05:${String(second).padStart(2, '0')}.000Z`;

/** A line of Claude Code. */
export const claudeLine = (
  type: string,
  uuid: string,
  parentUuid: string | null,
  more: object,
  second = 1,
): object => ({
  parentUuid,
  isSidechain: false,
  userType: 'external',
  cwd: '/srv/app',
  sessionId: 'claude-1',
  version: '2.1.4',
  gitBranch: 'main',
  type,
  uuid,
  timestamp: at(second),
  ...more,
});

const usage = (output: number): object => ({
  input_tokens: 7,
  cache_creation_input_tokens: 100,
  cache_read_input_tokens: 1000,
  output_tokens: output,
});
const spoken = (id: string, content: readonly object[], output: number, stop: string | null = null): object => ({
  message: {
    model: 'claude-opus-4-5-20251101',
    id,
    type: 'message',
    role: 'assistant',
    content,
    stop_reason: stop,
    usage: usage(output),
  },
});
const typed = (content: unknown): object => ({ message: { role: 'user', content } });
const result = (id: string, content: unknown, more: object = {}): object => ({
  ...typed([{ tool_use_id: id, type: 'tool_result', content, is_error: false }]),
  ...more,
});

/** Two prompts after one message: the person went back and asked something else. */
export const claudeFork: string = lines(
  claudeLine('user', 'u1', null, typed('Why does the build fail?')),
  claudeLine('assistant', 'a1', 'u1', spoken('msg_1', [{ type: 'text', text: long }], 5, 'end_turn')),
  claudeLine('system', 's1', 'a1', { subtype: 'turn_duration', durationMs: 12 }),
  claudeLine('user', 'u2', 's1', typed('Fix it.'), 2),
  claudeLine('assistant', 'a2', 'u2', spoken('msg_2', [{ type: 'text', text: 'Done.' }], 3, 'end_turn'), 3),
  claudeLine('user', 'u3', 'a1', typed('Only explain it.'), 4),
  claudeLine('assistant', 'a3', 'u3', spoken('msg_3', [{ type: 'text', text: 'It is the pool.' }], 4, 'end_turn'), 5),
);

/** One response over several lines, two tools at once, an edit, a sub-agent, tests and a compaction. */
export const claudeWork: string = lines(
  { type: 'summary', summary: 'The pool', leafUuid: 'x1' },
  {
    type: 'file-history-snapshot',
    messageId: 'u1',
    snapshot: { messageId: 'u1', trackedFileBackups: {}, timestamp: at(1) },
    isSnapshotUpdate: false,
  },
  claudeLine('user', 'u1', null, typed('Fix the pool.')),
  claudeLine(
    'assistant',
    'a1',
    'u1',
    spoken('msg_1', [{ type: 'thinking', thinking: 'Where is the pool?', signature: 'Eu'.repeat(60) }], 2),
  ),
  claudeLine('assistant', 'a2', 'a1', spoken('msg_1', [{ type: 'text', text: 'I look.' }], 2)),
  claudeLine(
    'assistant',
    'a3',
    'a2',
    spoken('msg_1', [{ type: 'tool_use', id: 't1', name: 'Read', input: { file_path: '/app/pool.ts' } }], 40),
  ),
  claudeLine(
    'assistant',
    'a4',
    'a3',
    spoken('msg_1', [{ type: 'tool_use', id: 't2', name: 'Bash', input: { command: 'npm test' } }], 90),
  ),
  claudeLine(
    'user',
    'r1',
    'a3',
    result(
      't1',
      '     1→export const size = 1;\n     2→export const wait = 5; // milliseconds, and never more than that',
      {
        toolUseResult: {
          type: 'text',
          file: {
            filePath: '/app/pool.ts',
            content: 'export const size = 1;\nexport const wait = 5; // milliseconds, and never more than that',
          },
        },
      },
    ),
  ),
  claudeLine('user', 'r2', 'a4', {
    ...typed([{ tool_use_id: 't2', type: 'tool_result', content: 'Exit code 1\n1 failed', is_error: true }]),
    toolUseResult: 'Error: Exit code 1',
  }),
  claudeLine('progress', 'p1', 'a4', { data: { type: 'bash_progress', output: 'x' }, toolUseID: 't2' }),
  claudeLine(
    'assistant',
    'a5',
    'r2',
    spoken(
      'msg_2',
      [
        {
          type: 'tool_use',
          id: 't3',
          name: 'Edit',
          input: { file_path: '/app/pool.ts', old_string: '1', new_string: '2' },
        },
      ],
      20,
    ),
    2,
  ),
  claudeLine(
    'user',
    'r3',
    'a5',
    result('t3', 'Edited.', {
      toolUseResult: {
        filePath: '/app/pool.ts',
        oldString: '1',
        newString: '2',
        originalFile: 'export const size = 1;\n'.repeat(4),
        structuredPatch: [
          {
            oldStart: 1,
            oldLines: 1,
            newStart: 1,
            newLines: 1,
            lines: ['-export const size = 1;', '+export const size = 2;'],
          },
        ],
        replaceAll: false,
      },
    }),
    3,
  ),
  claudeLine('progress', 'p2', 'a5', {
    data: {
      type: 'agent_progress',
      agentId: 'ab12',
      prompt: 'Look around',
      message: { type: 'assistant', uuid: 'q1', ...spoken('msg_9', [{ type: 'text', text: 'All quiet.' }], 3) },
    },
  }),
  claudeLine(
    'system',
    'c1',
    null,
    {
      logicalParentUuid: 'r3',
      subtype: 'compact_boundary',
      content: 'Conversation compacted',
      compactMetadata: { trigger: 'auto', preTokens: 155000 },
    },
    4,
  ),
  claudeLine(
    'user',
    'u2',
    'c1',
    { ...typed(`So far: ${long}`), isCompactSummary: true, isVisibleInTranscriptOnly: true },
    5,
  ),
  claudeLine('assistant', 'a6', 'u2', spoken('msg_3', [{ type: 'text', text: 'It works.' }], 6, 'end_turn'), 6),
);

const codexLine = (type: string, payload: object, second = 1): object => ({ timestamp: at(second), type, payload });
const item = (payload: object): object => codexLine('response_item', payload);
const tokens = (input: number, output: number, total: number): object =>
  codexLine('event_msg', {
    type: 'token_count',
    info: {
      total_token_usage: { input_tokens: total, output_tokens: output },
      last_token_usage: { input_tokens: input, cached_input_tokens: 10, output_tokens: output },
    },
    rate_limits: null,
  });

const codexRollout: string = lines(
  codexLine('session_meta', {
    id: 'codex-1',
    timestamp: at(0),
    cwd: '/srv/app',
    originator: 'codex_cli',
    cli_version: '0.140.0',
    base_instructions: { text: 'You are Codex.' },
    git: { commit_hash: 'd002f64f', branch: 'main' },
  }),
  item({
    type: 'message',
    role: 'user',
    content: [{ type: 'input_text', text: '<environment_context>\n  <cwd>/srv/app</cwd>\n</environment_context>' }],
  }),
  codexLine('turn_context', { cwd: '/srv/app', model: 'gpt-5-codex', effort: 'high', approval_policy: 'never' }),
  item({ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Fix the pool.' }] }),
  codexLine('event_msg', { type: 'user_message', message: 'Fix the pool.' }),
  item({ type: 'reasoning', summary: [{ type: 'summary_text', text: 'Where is it?' }], encrypted_content: 'gAAA' }),
  item({ type: 'function_call', name: 'shell', arguments: '{"command":"npm test"}', call_id: 'c1' }),
  tokens(100, 20, 100),
  tokens(100, 20, 100),
  item({
    type: 'function_call_output',
    call_id: 'c1',
    output: JSON.stringify({ output: long, metadata: { exit_code: 1 } }),
  }),
  codexLine('event_msg', {
    type: 'patch_apply_end',
    call_id: 'c2',
    success: true,
    changes: { '/app/pool.ts': { type: 'update', unified_diff: '@@ -1 +1 @@\n-1\n+2\n' } },
  }),
  item({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Fixed.' }] }),
  tokens(200, 30, 300),
  codexLine('event_msg', { type: 'task_complete', last_agent_message: 'Fixed.' }),
  item({ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'No, not so.' }] }),
  item({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Otherwise then.' }] }),
  codexLine('event_msg', { type: 'thread_rolled_back', num_turns: 1 }),
  item({ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Thank you.' }] }),
  codexLine('compacted', {
    message: 'So far.',
    replacement_history: [
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Fix the pool.' }] },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: long }] },
    ],
  }),
);

const gemini = [
  { id: 'm1', timestamp: at(1), type: 'user', content: 'Add a line to notes.txt.' },
  {
    id: 'm2',
    timestamp: at(2),
    type: 'gemini',
    content: long,
    model: 'gemini-2.5-flash',
    tokens: { input: 100, output: 18, cached: 0, thoughts: 31, tool: 0, total: 149 },
    thoughts: [{ subject: 'Notes', description: 'Which line?', timestamp: at(2) }],
    toolCalls: [
      {
        id: 'w1',
        name: 'write_file',
        args: { path: 'notes.txt' },
        result: [{ functionResponse: { id: 'w1', name: 'write_file', response: { output: 'ok' } } }],
        status: 'success',
        timestamp: at(2),
      },
    ],
  },
  { id: 'm3', timestamp: at(3), type: 'info', content: 'Saved.' },
];

const piEntry = (type: string, id: string, parentId: string | null, more: object): object => ({
  type,
  id,
  parentId,
  timestamp: at(1),
  ...more,
});
const piSaid = (id: string, parent: string | null, message: object): object =>
  piEntry('message', id, parent, { message });

const spanOf = (
  spanId: string,
  parentSpanId: string,
  name: string,
  attributes: Readonly<Record<string, string | number>>,
): object => ({
  traceId: '0af7651916cd43dd8448eb211c80319c',
  spanId,
  parentSpanId,
  name,
  kind: 1,
  startTimeUnixNano: '1768352748253000000',
  endTimeUnixNano: '1768352749253000000',
  attributes: Object.entries(attributes).map(([key, value]) => ({
    key,
    value: typeof value === 'number' ? { intValue: `${value}` } : { stringValue: value },
  })),
  status: {},
});
const otlpOf = (...spans: readonly object[]): object => ({
  resourceSpans: [
    {
      resource: { attributes: [{ key: 'service.name', value: { stringValue: 'app' } }] },
      scopeSpans: [{ scope: { name: 'x' }, spans }],
    },
  ],
});
const genAi = otlpOf(
  spanOf('00f067aa0ba902b7', '', 'invoke_agent support', {
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.agent.name': 'support',
  }),
  spanOf('00f067aa0ba902b8', '00f067aa0ba902b7', 'chat', {
    'gen_ai.operation.name': 'chat',
    'gen_ai.request.model': 'gpt-4o',
    'gen_ai.usage.input_tokens': 11,
    'gen_ai.usage.output_tokens': 5,
    'gen_ai.input.messages': JSON.stringify([{ role: 'user', parts: [{ type: 'text', content: long }] }]),
    'gen_ai.output.messages': JSON.stringify([
      { role: 'assistant', parts: [{ type: 'tool_call', id: 'c1', name: 'refund', arguments: { order: 7 } }] },
    ]),
  }),
  spanOf('00f067aa0ba902b9', '00f067aa0ba902b7', 'execute_tool refund', {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': 'refund',
    'gen_ai.tool.call.id': 'c1',
    'gen_ai.tool.call.arguments': '{"order":7}',
    'gen_ai.tool.call.result': '{"ok":true}',
  }),
);

const runRow = (id: string, type: string, parent: string | null, more: object): object => ({
  id,
  name: type,
  run_type: type,
  parent_run_id: parent,
  trace_id: 'r0',
  dotted_order: `20260114T010500000000Z${id}`,
  start_time: '2026-01-14T01:05:00.000000',
  end_time: '2026-01-14T01:05:02.000000',
  error: null,
  extra: {},
  ...more,
});

/** Every source by the name of its format. */
export const sources: Readonly<Record<string, readonly { readonly name: string; readonly text: string }[]>> = {
  'claude-code': [
    { name: 'a fork', text: claudeFork },
    { name: 'a session with tools, a sub-agent and a compaction', text: claudeWork },
  ],
  codex: [{ name: 'a rollout with a rollback and a compaction', text: codexRollout }],
  'gemini-cli': [
    {
      name: 'a chat',
      text: pretty({ sessionId: 'g1', projectHash: '7e89', startTime: at(0), lastUpdated: at(9), messages: gemini }),
    },
    {
      name: 'a chat in lines',
      text: lines(
        { sessionId: 'g2', projectHash: '7e89', startTime: at(0), kind: 'main' },
        ...gemini,
        { $set: { lastUpdated: at(5) } },
        { id: 'm4', timestamp: at(6), type: 'user', content: 'And one more.' },
        { $rewindTo: 'm4' },
        { id: 'm5', timestamp: at(7), type: 'user', content: 'No, two more.' },
      ),
    },
    {
      name: 'a chat whose answers are written again',
      text: lines(
        { sessionId: 'g3', projectHash: '7e89', startTime: at(0) },
        { id: 'u1', timestamp: at(1), type: 'user', content: [{ text: long }] },
        { id: 'a1', timestamp: at(2), type: 'gemini', content: 'I look.', tokens: null, model: 'gemini-2.5-flash' },
        { $set: { lastUpdated: at(2) } },
        { id: 'a1', timestamp: at(2), type: 'gemini', content: 'I look.', tokens: { input: 9, output: 3 } },
        {
          id: 'a1',
          timestamp: at(2),
          type: 'gemini',
          content: 'I look.',
          tokens: { input: 9, output: 3 },
          toolCalls: [{ id: 'c1', name: 'read', args: { path: 'a' }, status: 'success', result: [{ text: 'A' }] }],
        },
        { $set: { messages: [{ id: 's1', timestamp: at(3), type: 'user', content: [{ text: 'So far.' }] }] } },
        { id: 'u2', timestamp: at(4), type: 'user', content: 'Go on.' },
        { $rewindTo: 'u2' },
        { id: 'u3', timestamp: at(5), type: 'user', content: 'Stop.' },
      ),
    },
  ],
  'copilot-cli': [
    {
      name: 'a session',
      text: lines(
        {
          type: 'session.start',
          data: {
            sessionId: 'cp1',
            version: 1,
            copilotVersion: '0.0.400',
            context: { cwd: '/srv/app', branch: 'main', headCommit: 'd002' },
          },
          id: 'e1',
          timestamp: at(1),
          parentId: null,
        },
        {
          type: 'user.message',
          data: { content: 'Fix the pool.', transformedContent: 'Fix the pool.' },
          id: 'e2',
          timestamp: at(2),
          parentId: 'e1',
        },
        {
          type: 'assistant.message',
          data: {
            messageId: 'm1',
            content: long,
            toolRequests: [{ toolCallId: 'c1', name: 'bash', arguments: { command: 'ls' } }],
            outputTokens: 12,
          },
          id: 'e3',
          timestamp: at(3),
          parentId: 'e2',
        },
        {
          type: 'tool.execution_start',
          data: { toolCallId: 'c1', toolName: 'bash', arguments: { command: 'ls' } },
          id: 'e4',
          timestamp: at(3),
          parentId: 'e3',
        },
        {
          type: 'tool.execution_complete',
          data: { toolCallId: 'c1', success: true, result: { content: 'pool.ts' } },
          id: 'e5',
          timestamp: at(4),
          parentId: 'e4',
        },
        { type: 'hook.start', data: {}, id: 'e6', timestamp: at(4), parentId: 'e5' },
        { type: 'session.shutdown', data: {}, id: 'e7', timestamp: at(5), parentId: 'e6' },
      ),
    },
  ],
  pi: [
    {
      name: 'a tree with a compaction',
      text: lines(
        { type: 'session', version: 3, id: 'pi1', timestamp: at(0), cwd: '/srv/app' },
        piEntry('model_change', 'aaaa0001', null, { provider: 'anthropic', modelId: 'claude-sonnet-4-5' }),
        piSaid('aaaa0002', 'aaaa0001', { role: 'user', content: [{ type: 'text', text: 'Fix the pool.' }] }),
        piSaid('aaaa0003', 'aaaa0002', {
          role: 'assistant',
          content: [
            { type: 'text', text: long },
            { type: 'toolCall', id: 't1', name: 'bash', arguments: { command: 'npm test' } },
          ],
          model: 'claude-sonnet-4-5',
          usage: { input: 3, output: 19, cacheRead: 0, cacheWrite: 16, cost: { total: 0.01 } },
          stopReason: 'toolUse',
        }),
        piSaid('aaaa0004', 'aaaa0003', {
          role: 'toolResult',
          toolCallId: 't1',
          toolName: 'bash',
          content: [{ type: 'text', text: 'ok' }],
          isError: false,
        }),
        piSaid('aaaa0005', 'aaaa0004', {
          role: 'assistant',
          content: [{ type: 'text', text: 'Fixed.' }],
          model: 'claude-sonnet-4-5',
          usage: { input: 3, output: 2, cacheRead: 0, cacheWrite: 0, cost: { total: 0 } },
          stopReason: 'stop',
        }),
        piSaid('aaaa0006', 'aaaa0005', { role: 'user', content: 'Thanks.' }),
        piSaid('aaaa0007', 'aaaa0005', { role: 'user', content: 'Explain it.' }),
        piEntry('compaction', 'aaaa0008', 'aaaa0007', {
          summary: 'The pool was fixed.',
          firstKeptEntryId: 'aaaa0005',
          tokensBefore: 1000,
        }),
        piEntry('label', 'aaaa0009', 'aaaa0008', { targetId: 'aaaa0005', label: 'good' }),
      ),
    },
  ],
  openhands: [
    {
      name: 'an event stream',
      text: pretty([
        {
          id: 0,
          timestamp: '2025-01-20T20:29:13.519638',
          source: 'environment',
          message: '',
          observation: 'agent_state_changed',
          content: '',
          extras: { agent_state: 'init' },
        },
        {
          id: 1,
          timestamp: '2025-01-20T20:29:14.519638',
          source: 'user',
          message: 'Fix it.',
          action: 'message',
          args: { content: 'Fix it.', image_urls: [] },
        },
        {
          id: 2,
          timestamp: '2025-01-20T20:29:15.519638',
          source: 'agent',
          message: 'Running',
          action: 'run',
          args: { command: 'npm test', thought: long },
          tool_call_metadata: {
            function_name: 'execute_bash',
            tool_call_id: 'c1',
            model_response: { id: 'x', model: 'gpt-4o', usage: { prompt_tokens: 9, completion_tokens: 3 } },
            total_calls_in_response: 1,
          },
        },
        {
          id: 3,
          timestamp: '2025-01-20T20:29:16.519638',
          source: 'agent',
          message: 'ran',
          cause: 2,
          observation: 'run',
          content: 'ok',
          extras: { command: 'npm test', metadata: { exit_code: 0 } },
        },
        {
          id: 4,
          timestamp: '2025-01-20T20:29:17.519638',
          source: 'agent',
          message: '',
          action: 'finish',
          args: { final_thought: 'Done.' },
        },
      ]),
    },
  ],
  'swe-agent': [
    {
      name: 'a trajectory',
      text: pretty({
        environment: 'swe_main',
        trajectory: [
          {
            action: 'ls',
            observation: 'pool.ts',
            response: long,
            thought: 'I look.',
            execution_time: 0.1,
            state: {},
            messages: [
              { role: 'system', content: 'You fix.' },
              { role: 'user', content: 'The pool is broken.' },
            ],
          },
          { action: 'submit', observation: '', response: 'Done.', thought: 'Done.', state: {} },
        ],
        history: [],
        info: {
          submission: 'diff',
          exit_status: 'submitted',
          model_stats: { instance_cost: 0.2, tokens_sent: 100, tokens_received: 20, api_calls: 2 },
        },
      }),
    },
    {
      name: 'a trajectory of mini',
      text: pretty({
        trajectory_format: 'mini-swe-agent-1',
        info: { exit_status: 'Submitted', submission: 'diff' },
        messages: [
          { role: 'system', content: 'You fix.' },
          { role: 'user', content: long },
          { role: 'assistant', content: 'Done.' },
        ],
      }),
    },
  ],
  otlp: [
    { name: 'a document of GenAI spans', text: pretty(genAi) },
    { name: 'a document a line', text: lines(genAi, genAi) },
    {
      name: 'spans of OpenInference',
      text: pretty(
        otlpOf(
          spanOf('1000000000000001', '', 'llm', {
            'openinference.span.kind': 'LLM',
            'llm.model_name': 'gpt-4o',
            'llm.input_messages.0.message.role': 'user',
            'llm.input_messages.0.message.content': long,
            'llm.output_messages.0.message.role': 'assistant',
            'llm.output_messages.0.message.tool_calls.0.tool_call.function.name': 'refund',
            'llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments': '{"order":7}',
            'llm.token_count.prompt': 3,
            'llm.token_count.completion': 4,
          }),
        ),
      ),
    },
    {
      name: 'spans of OpenLLMetry',
      text: pretty(
        otlpOf(
          spanOf('1000000000000001', '', 'openai.chat', {
            'llm.request.type': 'chat',
            'gen_ai.request.model': 'gpt-4o',
            'gen_ai.prompt.0.role': 'user',
            'gen_ai.prompt.0.content': long,
            'gen_ai.completion.0.role': 'assistant',
            'gen_ai.completion.0.content': 'Yes.',
          }),
          spanOf('1000000000000002', '', 'refund.tool', {
            'traceloop.span.kind': 'tool',
            'traceloop.entity.name': 'refund',
            'traceloop.entity.input': '{}',
            'traceloop.entity.output': '"ok"',
          }),
        ),
      ),
    },
  ],
  langsmith: [
    {
      name: 'a list of runs',
      text: pretty([
        runRow('r0', 'chain', null, { outputs: { output: 'ok' } }),
        runRow('r1', 'llm', 'r0', {
          inputs: {
            messages: [
              [
                {
                  lc: 1,
                  type: 'constructor',
                  id: ['langchain', 'schema', 'messages', 'HumanMessage'],
                  kwargs: { content: long },
                },
              ],
            ],
          },
          outputs: {
            generations: [
              [
                {
                  text: 'Yes.',
                  message: {
                    lc: 1,
                    type: 'constructor',
                    id: ['langchain', 'schema', 'messages', 'AIMessage'],
                    kwargs: { content: 'Yes.' },
                  },
                },
              ],
            ],
          },
          extra: { invocation_params: { model: 'gpt-4o' } },
          prompt_tokens: 5,
          completion_tokens: 2,
        }),
        runRow('r2', 'tool', 'r0', { inputs: { input: '7' }, outputs: { output: 'paid' } }),
      ]),
    },
    {
      name: 'a run a line',
      text: lines(
        runRow('r0', 'llm', null, {
          inputs: { messages: [{ role: 'user', content: long }] },
          outputs: { choices: [{ message: { role: 'assistant', content: 'Yes.' } }] },
        }),
        runRow('r1', 'tool', null, { inputs: {}, outputs: {} }),
      ),
    },
  ],
  langfuse: [
    {
      name: 'a trace',
      text: pretty({
        id: 'tr1',
        name: 'support',
        timestamp: at(0),
        sessionId: 'lf1',
        output: 'ok',
        observations: [
          {
            id: 'o1',
            traceId: 'tr1',
            type: 'GENERATION',
            name: 'chat',
            startTime: at(1),
            endTime: at(2),
            model: 'gpt-4o',
            input: [{ role: 'user', content: long }],
            output: { role: 'assistant', content: 'Yes.' },
            usageDetails: { input: 9, output: 3 },
            level: 'DEFAULT',
            parentObservationId: null,
          },
          {
            id: 'o2',
            traceId: 'tr1',
            type: 'TOOL',
            name: 'refund',
            startTime: at(2),
            endTime: at(3),
            input: { order: 7 },
            output: 'paid',
            level: 'ERROR',
            statusMessage: 'no',
            parentObservationId: null,
          },
        ],
      }),
    },
  ],
  'openai-traces': [
    {
      name: 'a trace a line',
      text: lines(
        { object: 'trace', id: 'trace_1', workflow_name: 'Support', group_id: null, metadata: {} },
        {
          object: 'trace.span',
          id: 'span_2',
          trace_id: 'trace_1',
          parent_id: null,
          started_at: at(1),
          ended_at: at(2),
          span_data: {
            type: 'generation',
            input: [{ role: 'user', content: long }],
            output: [{ role: 'assistant', content: 'Yes.' }],
            model: 'gpt-4o',
            usage: { input_tokens: 4, output_tokens: 2 },
          },
          error: null,
        },
      ),
    },
    {
      name: 'an exported batch',
      text: pretty({
        data: [
          { object: 'trace', id: 'trace_1', workflow_name: 'Support' },
          {
            object: 'trace.span',
            id: 'span_1',
            trace_id: 'trace_1',
            parent_id: null,
            started_at: at(1),
            ended_at: at(3),
            span_data: { type: 'agent', name: 'support', handoffs: [], tools: ['refund'] },
            error: null,
          },
          {
            object: 'trace.span',
            id: 'span_2',
            trace_id: 'trace_1',
            parent_id: 'span_1',
            started_at: at(1),
            ended_at: at(2),
            span_data: { type: 'function', name: 'refund', input: '{"order":7}', output: long },
            error: { message: 'no', data: {} },
          },
        ],
      }),
    },
  ],
  bernstein: [
    {
      name: 'a replay log',
      text: lines(
        {
          ts: 1768352748.25,
          elapsed_s: 0,
          event: 'run_started',
          run_id: 'run-1',
          git_sha: 'd002',
          git_branch: 'main',
          config_hash: 'ab',
        },
        {
          ts: 1768352749,
          elapsed_s: 0.75,
          event: 'agent_spawned',
          agent_id: 'backend-1',
          role: 'backend',
          model: 'm',
          task_ids: ['T-1'],
        },
        { ts: 1768352749, elapsed_s: 0.8, event: 'task_claimed', task_id: 'T-1', agent_id: 'backend-1', model: 'm' },
        {
          ts: 1768352750,
          elapsed_s: 1.8,
          event: 'task_completed',
          task_id: 'T-1',
          agent_id: 'backend-1',
          cost_usd: 0.5,
          result_summary: long,
        },
        { ts: 1768352751, elapsed_s: 2.8, event: 'run_completed', run_id: 'run-1', ticks: 2, fingerprint: 'x' },
      ),
    },
    {
      name: 'a trace of a task',
      text: pretty({
        trace_id: '0123456789abcdef',
        session_id: 'backend-1',
        task_ids: ['T-1'],
        agent_role: 'backend',
        model: 'm',
        effort: 'high',
        spawn_ts: 1768352748,
        end_ts: 1768352750,
        steps: [{ type: 'spawn', timestamp: 1768352748, detail: '' }],
        outcome: 'success',
        task_snapshots: [
          { id: 'T-1', title: 'Fix the pool', description: long, role: 'backend', result_summary: 'Fixed.' },
        ],
      }),
    },
  ],
  atif: [
    {
      name: 'a trajectory',
      text: pretty({
        schema_version: 'ATIF-v1.7',
        session_id: 'at1',
        agent: { name: 'harbor', version: '1', model_name: 'gpt-4o' },
        steps: [
          { step_id: 1, timestamp: at(1), source: 'user', message: 'Fix the pool.' },
          {
            step_id: 2,
            timestamp: at(2),
            source: 'agent',
            message: long,
            reasoning_content: 'Hm.',
            tool_calls: [{ tool_call_id: 'c1', function_name: 'bash', arguments: { command: 'ls' } }],
            observation: { results: [{ source_call_id: 'c1', content: 'pool.ts' }] },
            metrics: { prompt_tokens: 10, completion_tokens: 3, cost_usd: 0.001 },
          },
        ],
        final_metrics: { total_steps: 2 },
      }),
    },
  ],
  vcr: [
    {
      name: 'a cassette',
      text: `---\nversion: 2\ninteractions:\n    - id: 0\n      request:\n        body: '{"messages":[{"content":"What is 2+2?","role":"user"}],"model":"gpt-4o","stream":true}'\n        url: https://api.openai.com/v1/chat/completions\n        method: POST\n      response:\n        body: |+\n            data: {"id":"c1","object":"chat.completion.chunk","model":"gpt-4o","choices":[{"index":0,"delta":{"role":"assistant","content":"It is the number four, of course."},"finish_reason":null}]}\n\n            data: {"id":"c1","object":"chat.completion.chunk","model":"gpt-4o","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n            data: [DONE]\n\n        code: 200\n`,
    },
  ],
  har: [
    {
      name: 'an archive',
      text: pretty({
        log: {
          version: '1.2',
          entries: [
            {
              startedDateTime: at(1),
              time: 12,
              request: { method: 'GET', url: 'https://example.org/orders?id=7' },
              response: { status: 404, content: { text: long } },
            },
          ],
        },
      }),
    },
  ],
  'orca-trace': [
    {
      name: 'events',
      text: lines(
        {
          seq: 1,
          ts: at(1),
          mono_us: 1,
          turn: 1,
          type: 'user.message',
          actor: 'user',
          causes: [],
          attrs: {},
          payload: { text: long },
        },
        {
          seq: 2,
          ts: at(2),
          mono_us: 2,
          turn: 1,
          type: 'tool.call',
          actor: 'agent-1',
          causes: [1],
          attrs: { tool: 'bash' },
          payload: { command: 'ls' },
        },
        {
          seq: 3,
          ts: at(3),
          mono_us: 3,
          turn: 1,
          type: 'tool.result',
          actor: 'agent-1',
          causes: [2],
          attrs: {},
          payload: { $blob: 'ab' },
        },
        {
          seq: 4,
          ts: at(4),
          mono_us: 4,
          turn: 1,
          type: 'assistant.message',
          actor: 'agent-1',
          causes: [3],
          attrs: {},
          payload: { text: 'Done.' },
        },
      ),
    },
  ],
  shipit: [
    {
      name: 'a trace',
      text: pretty({
        trace_id: 't',
        metadata: { agent_name: 'support' },
        events: [
          { type: 'run_started', message: '', payload: { prompt: 'Refund order 7, please, at once.' } },
          { type: 'tool_called', message: 'Tool called: refund', payload: { arguments: { order: 7 } } },
          { type: 'tool_completed', message: 'Tool completed: refund', payload: { output: long } },
          { type: 'run_completed', message: '', payload: { output: 'Done.' } },
        ],
      }),
    },
  ],
  messages: [
    {
      name: 'a list',
      text: pretty([
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: long },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'refund', arguments: '{"order":7}' } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'paid' },
        { role: 'assistant', content: 'Done.' },
      ]),
    },
    {
      name: 'a message a line',
      text: lines(
        { role: 'user', content: long },
        { role: 'assistant', content: [{ type: 'text', text: 'Yes, é and 😀.' }] },
      ),
    },
  ],
};

/** Streams a text, as a source without a path. */
export async function* pieces(text: string): AsyncGenerator<string> {
  yield text;
}
