import type { ResumeContext } from '../../core/recording/agent.ts';
import { openModelServer } from '../../testing/model-server/model-server.ts';
import { demoModel, hasty } from './demo-model.ts';
import { type SupportContext, supportAgent } from './support-agent.ts';

/** Runs the agent of `reprise demo` with its own model, so that it works anywhere, without a network. */
export async function demoAgent(context: ResumeContext | SupportContext): Promise<string> {
  await using server = await openModelServer(demoModel);
  return await supportAgent(context, { url: server.url, model: 'small-1', system: hasty });
}
