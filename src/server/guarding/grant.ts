import { RepriseError } from '../../core/error.ts';

/** The rights that a token can have. */
export const allRights = ['read', 'append', 'run', 'admin'] as const;

/** One right of a token: `read` looks, `append` writes history, `run` starts agents, `admin` may do everything. */
export type Right = (typeof allRights)[number];

/** Who calls, and what the caller may do. */
export interface Grant {
  /** The id of the token. */
  readonly token: string;
  readonly rights: ReadonlySet<Right>;
  /** The namespaces of the token; undefined for all of them. */
  readonly namespaces: readonly string[] | undefined;
  /** The agent that the token is bound to. */
  readonly agent?: string;
}

/** Returns true if a caller has a right. */
export function hasRight({ rights }: Grant, right: Right): boolean {
  return rights.has(right) || rights.has('admin');
}

/** Refuses a caller that lacks a right. */
export function checkRight(grant: Grant, right: Right, attempted: string): void {
  if (hasRight(grant, right)) return;
  throw new RepriseError('store.denied', `Cannot ${attempted}: the token lacks the right "${right}"`, {
    hint: `Ask for a token with the right "${right}".`,
    details: { right },
  });
}

/** Refuses a token that is bound to an agent: it gets the state and the beliefs of that agent, and nothing else. */
export function checkUnbound({ agent }: Grant, attempted: string): void {
  if (agent === undefined) return;
  throw new RepriseError('store.denied', `Cannot ${attempted}: the token is bound to agent "${agent}"`, {
    hint: 'Such a token gets the calls of state and beliefs, as that agent.',
    details: { agent },
  });
}

/** Returns the agent that a call is made as; refuses an agent that the token is not bound to. */
export function actingAgent(grant: Grant, asked: string): string {
  if (grant.agent === undefined || asked === grant.agent) return asked;
  if (asked !== '') checkUnbound(grant, `act as agent ${JSON.stringify(asked)}`);
  return grant.agent;
}

/** Refuses a namespace that is not the caller's, with the same answer whether it exists or not. */
export function checkNamespace({ namespaces }: Grant, namespace: string): void {
  if (namespaces === undefined || namespaces.includes(namespace)) return;
  throw new RepriseError('store.denied', `Cannot use namespace ${JSON.stringify(namespace)}: it is not of this token`, {
    hint: 'Open a namespace of the token, or ask for a token of this namespace.',
    details: { namespace },
  });
}
