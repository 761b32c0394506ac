import { RepriseError } from '../../../core/error.ts';
import { given, type JsonObject } from '../../../core/json.ts';
import { inStory } from '../../../core/ref.ts';
import type { AgentLook } from '../../../engine/agents/agent.ts';
import type { AsOptions } from '../../../engine/agents/agent-source.ts';
import { projectionNamed } from '../../../reading/shipped-projections.ts';
import { actingAgent, type Grant } from '../../guarding/grant.ts';
import { apart, type LookPlace, pagesOf, textIn, type VerbEntry, writing } from '../verb-entry.ts';
import { believing, claiming } from './fleet-verbs.ts';
import { replaying, withFilter } from './look-verbs.ts';

/** The agent that asks; that of the token if it is bound to one. */
const asAgent = { agent: 'text?' } as const;

/** Returns the agent that a call acts as. */
function agentOf(grant: Grant, input: JsonObject): string {
  const agent = actingAgent(grant, textIn(input, 'agent'));
  if (agent === '')
    throw new RepriseError('option.invalid', 'Cannot run the verb of an agent: "agent" is missing', {
      hint: 'Name the agent, or use a token that is bound to one.',
      details: { path: 'agent' },
    });
  return agent;
}

/** Returns how the agent gets its handle: a token of an agent is in the hands of the agent itself, on every branch. */
const handedTo = ({ agent }: Grant): AsOptions => ({ handed: agent !== undefined });

/** Returns the look of the agent that a call acts as; in story time if a turn is named. */
function lookOf({ session, look, ref, grant }: LookPlace, input: JsonObject): AgentLook {
  const { story } = input;
  const at = typeof story === 'number' ? session.at(inStory(ref, story)) : look;
  return at.as(agentOf(grant, input), handedTo(grant));
}

type AgentVerb = 'replay' | 'fold' | 'known' | 'beliefs.list' | 'beliefs.commit';

/** The verbs of one agent: each sees and writes what that agent may. */
export const agentVerbs: Readonly<Record<`agent.${AgentVerb}`, VerbEntry>> = {
  'agent.replay': {
    about: 'Reads again what an agent could see.',
    rights: ['read'],
    at: 'look',
    takes: { ...asAgent, ...replaying },
    isOfAgent: true,
    many: (place, input) => {
      const options = { ...apart<object>(withFilter(input), 'agent'), signal: place.until({}) };
      return pagesOf(lookOf(place, input).replay(options));
    },
  },
  'agent.fold': {
    about: 'Returns the value of a projection over what an agent could see.',
    rights: ['read'],
    at: 'look',
    takes: { ...asAgent, projection: 'text' },
    isOfAgent: true,
    one: (place, input) =>
      lookOf(place, input).fold(projectionNamed(textIn(input, 'projection'), place.sha256).projection),
  },
  'agent.known': {
    about: 'Returns everything that an agent knew at a point.',
    rights: ['read'],
    at: 'look',
    takes: asAgent,
    isOfAgent: true,
    one: (place, input) => lookOf(place, input).known(),
  },
  'agent.beliefs.list': {
    about: 'Returns the claims that stood at a point and that an agent could see then; `of` names whose.',
    rights: ['read'],
    at: 'look',
    takes: { ...believing, of: 'text?' },
    isOfAgent: true,
    one: (place, input) =>
      lookOf(place, input).beliefs.list({
        ...apart<object>(input, 'agent', 'of', 'story'),
        ...given({ agent: input['of'] as string | undefined }),
      }),
  },
  'agent.beliefs.commit': {
    about: 'Commits a claim of an agent on a topic that it may see.',
    rights: writing,
    at: 'branch',
    takes: { ...asAgent, ...claiming },
    isOfAgent: true,
    one: ({ on, grant }, input) => on.as(agentOf(grant, input), handedTo(grant)).beliefs.commit(apart(input, 'agent')),
  },
};
