import type { Agent, ResumableAgent, ResumeContext } from './agent.ts';

/** Wraps an agent so that it reports when it starts. */
export function watchedAgent(agent: Agent, onStart: (context: ResumeContext) => void): Agent {
  if (typeof agent === 'function') {
    return (context, run) => {
      onStart(context);
      return agent(context, run);
    };
  }
  const wrapped = Object.create(agent) as { -readonly [Key in keyof ResumableAgent]: ResumableAgent[Key] };
  // Call methods on the agent itself: it may have private fields.
  wrapped.resume = (context, run) => {
    onStart(context);
    return agent.resume(context, run);
  };
  if (agent.isForCaller !== undefined) wrapped.isForCaller = (call) => agent.isForCaller?.(call) ?? false;
  if (agent.inputOf !== undefined) wrapped.inputOf = (call) => agent.inputOf?.(call) ?? Promise.resolve(call.input);
  if (agent.approvalOf !== undefined)
    wrapped.approvalOf = (call, context) => agent.approvalOf?.(call, context) ?? Promise.resolve(undefined);
  if (agent.answerFor !== undefined) wrapped.answerFor = (question, said) => agent.answerFor?.(question, said);
  if (agent.denied !== undefined) wrapped.denied = (call, said) => agent.denied?.(call, said) ?? null;
  if (agent.callTool !== undefined) wrapped.callTool = (call, context, run) => agent.callTool?.(call, context, run);
  if (agent.effectOf !== undefined) wrapped.effectOf = (call) => agent.effectOf?.(call);
  if (agent.textOf !== undefined) wrapped.textOf = (result) => agent.textOf?.(result) ?? '';
  return wrapped;
}
