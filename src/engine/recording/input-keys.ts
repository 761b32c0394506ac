import { type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import type { CallEnd, CallStart, Question, RunStart, TaskStart, TurnStart } from '../../core/recording/recorder.ts';

/** The keys that a recorder reads of what code hands to it. It reports any other key as an error and continues. */
export const inputKeys: Readonly<Record<'run' | 'turn' | 'task' | 'call' | 'end' | 'question' | 'message', KnownKeys>> =
  {
    run: optionKeys<RunStart>(
      'record all of a run',
      {
        title: true,
        agent: true,
        run: true,
        program: true,
        versions: true,
        git: true,
        configDigest: true,
        cause: true,
        resumed: true,
        messages: true,
      },
      'a run',
    ),
    turn: optionKeys<TurnStart>('record all of a turn', { title: true }, 'a turn'),
    task: optionKeys<TaskStart>(
      'record all of a task',
      { task: true, title: true, prompt: true, role: true },
      'a task',
    ),
    call: optionKeys<CallStart>(
      'record all of a call',
      {
        kind: true,
        name: true,
        call: true,
        agent: true,
        effect: true,
        annotations: true,
        input: true,
        about: true,
        node: true,
        request: true,
      },
      'a call',
    ),
    end: optionKeys<CallEnd>(
      'record all of how a call ended',
      {
        outcome: true,
        output: true,
        message: true,
        finishReason: true,
        error: true,
        usage: true,
        cost: true,
        attempts: true,
        provider: true,
      },
      'the end of a call',
    ),
    question: optionKeys<Question>(
      'record all of a question',
      { name: true, call: true, about: true, input: true, agent: true, saved: true },
      'a question',
    ),
    message: optionKeys<{ agent: string }>('record all about a message', { agent: true }, 'a message'),
  };
