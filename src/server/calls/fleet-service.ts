import type { HandlerContext, ServiceImpl } from '@connectrpc/connect';
import { RepriseError } from '../../core/error.ts';
import type { JsonValue } from '../../core/json.ts';
import type { Sha256 } from '../../core/parts/digest.ts';
import type { AgentVerbs } from '../../engine/agents/agent-verbs.ts';
import type { BeliefsHandle } from '../../engine/believing/beliefs-handle.ts';
import type { FleetHandle } from '../../engine/fleet/fleet-handle.ts';
import type { Session } from '../../engine/session.ts';
import { projectionNamed } from '../../reading/shipped-projections.ts';
import type { FleetService } from '../../wire/generated/reprise/v1/fleet_pb.ts';
import { beatMs } from '../../wire/protocol.ts';
import { requestOf } from '../answering/call-log.ts';
import { actingAgent, checkUnbound } from '../guarding/grant.ts';
import { batched, gathered } from '../http/batches.ts';
import { jsonIn, listIn, objectIn } from '../http/json-text.ts';
import { endOf, type FollowOptions, optionsIn, texts, type VerbParts } from './session-service.ts';

/** Names a branch in a request. */
interface BranchName {
  readonly namespace: string;
  readonly session: string;
  readonly branch: string;
}

/** A fleet, and the beliefs in it, on the branch of a request. */
interface FleetPlace {
  readonly session: Session;
  readonly fleet: FleetHandle;
  readonly beliefs: BeliefsHandle;
}

type Verb = (place: FleetPlace, input: readonly never[]) => Promise<unknown>;

/** The verbs that change a fleet, by name. Each checks what it gets. */
const changes = {
  spawn: ({ fleet }, [agent, options]) => fleet.spawn(agent as never, options),
  change: ({ fleet }, [agent, options]) => fleet.change(agent as never, options as never),
  end: ({ fleet }, [agent, options]) => fleet.end(agent as never, options),
  mutate: ({ fleet }, [mutation]) => fleet.mutate(mutation as never),
  settle: ({ beliefs }) => beliefs.settle(),
  revert: ({ beliefs }, [id, options]) => beliefs.revert(id as never, options),
  setStrategy: ({ beliefs }, [strategy, options]) => beliefs.setStrategy(strategy as never, options),
  startTask: ({ fleet }, [task]) => fleet.tasks.start(task as never),
  claimTask: ({ fleet }, [task]) => fleet.tasks.claim(task as never),
  endTask: ({ fleet }, [task]) => fleet.tasks.end(task as never),
  verificationFailed: ({ fleet }, [failed]) => fleet.tasks.verificationFailed(failed as never),
} as const satisfies Readonly<Record<string, Verb>>;

const answerOf = (value: unknown): { readonly answer: string } => ({ answer: JSON.stringify(value ?? null) });
const pointIn = (point: string): string | undefined => (point === '' ? undefined : point);

/** Returns the verbs of fleets and beliefs. A token that is bound to an agent gets those of its agent. */
export function fleetService(parts: VerbParts): ServiceImpl<typeof FleetService> {
  const at = async (context: HandlerContext, { namespace, session: id, branch }: BranchName): Promise<FleetPlace> => {
    checkUnbound(requestOf(context).grant, 'use the fleet');
    const session = await parts.repriseOf(context, namespace).session(id);
    if (branch === '') return { session, fleet: session.fleet, beliefs: session.beliefs };
    return { session, fleet: session.branch(branch).fleet, beliefs: session.branch(branch).beliefs };
  };
  return {
    ...agentCalls(parts, (context, place) => at(context, place)),
    async changeFleet({ verb, input, ...place }, context) {
      const held = await at(context, place);
      const change: Verb | undefined = Object.hasOwn(changes, verb) ? changes[verb as keyof typeof changes] : undefined;
      if (change === undefined) throw noVerb(verb);
      return answerOf(await change(held, listIn(input, 'input') as readonly never[]));
    },
    async getFleet({ where, ...place }, context) {
      const { session } = await at(context, place);
      const on = place.branch === '' ? session : session.branch(place.branch);
      return answerOf(await on.fleetAt(whereIn(where)));
    },
    async getStrategy(place, context) {
      return { strategy: await (await at(context, place)).beliefs.strategy() };
    },
    async *auditFleet({ options, ...place }, context) {
      const { session } = await at(context, place);
      const on = place.branch === '' ? session : session.branch(place.branch);
      const asked = optionsIn<FollowOptions>(options);
      const found = on.audit({ ...asked, signal: endOf(context.signal, parts.draining, asked) } as never);
      for await (const events of batched(gathered(texts(found)), beatMs)) yield { events: [...events] };
    },
  };
}

function whereIn(where: string): never {
  return (where === '' ? {} : (jsonIn(where, 'where') as JsonValue)) as never;
}

type AgentCall = 'commitBelief' | 'listBeliefs' | 'replayAgent' | 'getAgentState' | 'getKnown';

function agentCalls(
  parts: VerbParts & { readonly sha256: Sha256 },
  at: (context: HandlerContext, place: BranchName) => Promise<FleetPlace>,
): Pick<ServiceImpl<typeof FleetService>, AgentCall> {
  const as = async (
    context: HandlerContext,
    { namespace, session: id, branch, agent: asked }: BranchName & { readonly agent: string },
  ): Promise<AgentVerbs> => {
    const { grant } = requestOf(context);
    const agent = actingAgent(grant, asked);
    const session = await parts.repriseOf(context, namespace).session(id);
    // A token of an agent is in the hands of the agent itself, on every branch: each says what the agent may see there.
    return session.as(agent, { handed: grant.agent !== undefined, ...(branch === '' ? {} : { branch }) });
  };
  const isAgent = (context: HandlerContext, agent: string): boolean =>
    agent !== '' || requestOf(context).grant.agent !== undefined;
  return {
    async commitBelief({ input, ...place }, context) {
      const claim = objectIn(input, 'input') as never;
      const surface = isAgent(context, place.agent) ? await as(context, place) : await at(context, place);
      return answerOf(await surface.beliefs.commit(claim));
    },
    async listBeliefs({ options, ...place }, context) {
      const asked = optionsIn<object>(options);
      if (isAgent(context, place.agent)) return answerOf(await (await as(context, place)).beliefsAt(asked));
      const { session } = await at(context, place);
      const on = place.branch === '' ? session : session.branch(place.branch);
      return answerOf(await on.beliefsAt(asked));
    },
    async *replayAgent({ options, ...place }, context) {
      const { signal } = context;
      const found = (await as(context, place)).replay({ ...optionsIn<object>(options), signal });
      for await (const events of batched(gathered(texts(found)), beatMs)) yield { events: [...events] };
    },
    async getAgentState({ point, projection, ...place }, context) {
      const { projection: named } = projectionNamed(projection, parts.sha256);
      return answerOf(await (await as(context, place)).at(pointIn(point) ?? {}).fold(named));
    },
    async getKnown({ point, ...place }, context) {
      return answerOf(await (await as(context, place)).at(pointIn(point)).known());
    },
  };
}

function noVerb(verb: string): RepriseError {
  return new RepriseError('option.invalid', `Cannot change the fleet: no verb ${JSON.stringify(verb.slice(0, 80))}`, {
    hint: `The verbs are ${Object.keys(changes).join(', ')}.`,
    details: { path: 'verb' },
  });
}
