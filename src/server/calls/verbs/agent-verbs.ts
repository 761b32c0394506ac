import { RepriseError } from '../../../core/error.ts';
import { given, type JsonObject } from '../../../core/json.ts';
import type { AgentVerbs } from '../../../engine/agents/agent-verbs.ts';
import { projectionNamed } from '../../../reading/shipped-projections.ts';
import { actingAgent } from '../../guarding/grant.ts';
import { apart, type LookPlace, pagesOf, textIn, type VerbEntry, writing } from '../verb-entry.ts';
import { believing, claiming, timesIn } from './fleet-verbs.ts';
import { replaying, withFilter } from './look-verbs.ts';

/** The agent that asks; that of the token if it is bound to one. */
const asAgent = { agent: 'text?' } as const;

/** Returns the surface of the agent that a call acts as. */
function surfaceOf({ session, branch, grant }: LookPlace, input: JsonObject): AgentVerbs {
  const agent = actingAgent(grant, textIn(input, 'agent'));
  if (agent === '')
    throw new RepriseError('option.invalid', 'Cannot run the verb of an agent: "agent" is missing', {
      hint: 'Name the agent, or use a token that is bound to one.',
      details: { path: 'agent' },
    });
  // A token of an agent is in the hands of the agent itself, on every branch: each says what the agent may see there.
  return session.as(agent, { handed: grant.agent !== undefined, branch });
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
      const options = { ...apart<object>(withFilter(input), 'agent'), at: place.point, signal: place.until({}) };
      return pagesOf(surfaceOf(place, input).replay(options));
    },
  },
  'agent.fold': {
    about: 'Returns the value of a projection over what an agent could see.',
    rights: ['read'],
    at: 'look',
    takes: { ...asAgent, projection: 'text' },
    isOfAgent: true,
    one: (place, input) =>
      surfaceOf(place, input).stateAt(
        place.point,
        projectionNamed(textIn(input, 'projection'), place.sha256).projection,
      ),
  },
  'agent.known': {
    about: 'Returns everything that an agent knew at a point.',
    rights: ['read'],
    at: 'look',
    takes: asAgent,
    isOfAgent: true,
    one: (place, input) => surfaceOf(place, input).knownAt(place.point),
  },
  'agent.beliefs.list': {
    about: 'Returns the claims that stood at a point and that an agent could see then; `of` names whose.',
    rights: ['read'],
    at: 'look',
    takes: { ...believing, of: 'text?' },
    isOfAgent: true,
    one: (place, input) =>
      surfaceOf(place, input).beliefsAt({
        ...apart(input, 'agent', 'of', 'story'),
        ...given({ agent: input['of'] as string | undefined }),
        ...timesIn(place, input),
      }),
  },
  'agent.beliefs.commit': {
    about: 'Commits a claim of an agent on a topic that it may see.',
    rights: writing,
    at: 'branch',
    takes: { ...asAgent, ...claiming },
    isOfAgent: true,
    one: (place, input) => surfaceOf(place, input).beliefs.commit(apart(input, 'agent')),
  },
};
