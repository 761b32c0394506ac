import type { Belief } from '../core/fleet/belief.ts';
import type { Attribution, BeliefsDiff, ClaimDifference } from '../core/fleet/beliefs-diff.ts';
import type { Scope } from '../core/fleet/registration.ts';

/** Writes a scope: `everything`, `nothing`, or its topics. */
export function scopeText(scope: Scope): string {
  if (scope === 'all') return 'everything';
  return scope.length === 0 ? 'nothing' : scope.join(', ');
}

/** Writes a claim in a line: `[diagnosis] the pool is full (triage, turn 20)`. */
export function beliefText({ topic, claim, agent, turn, erased }: Belief): string {
  const about = topic === undefined ? '' : `[${topic}] `;
  return `${about}${erased === true ? '(erased)' : claim} (${agent === undefined ? '' : `${agent}, `}turn ${turn})`;
}

function attributionText({ how, to }: Attribution): string {
  if (how === 'unknown') return 'for reasons that were not recorded';
  const count = to.length === 1 ? '1 change' : `${to.length} changes`;
  return how === 'certain' ? `because of ${count}` : `perhaps because of ${count}`;
}

function claimText({ kind, side, belief, endsAt, attribution }: ClaimDifference): string {
  const sign = kind === 'ended-differently' ? '~' : side === 'left' ? '-' : '+';
  const ends = (turn: number | null | undefined): string => (turn === null ? 'stands' : `ends at turn ${turn}`);
  const how = kind === 'ended-differently' ? `: ${ends(endsAt.left)} → ${ends(endsAt.right)}` : '';
  return `${sign} ${beliefText(belief)}${how}, ${attributionText(attribution)}`;
}

/** Writes how the beliefs of two histories differ, one difference a line, each beginning with its sign. */
export function beliefsDiffLines({ topics, agents, answers }: BeliefsDiff): string[] {
  const claims = topics.flatMap(({ claims: held }) => held.map(claimText));
  const people = agents.map(({ agent, left, right, attribution }) => {
    const sign = left === undefined ? '+' : right === undefined ? '-' : '~';
    const scopes = [left, right].map((who) => (who === undefined ? undefined : `sees ${scopeText(who.scope)}`));
    return `${sign} agent ${agent}: ${scopes.filter((text) => text !== undefined).join(' → ')}, ${attributionText(attribution)}`;
  });
  const said = answers.map(
    ({ agent, turn, attribution }) =>
      `~ calls and answers of ${agent} in turn ${turn}, ${attributionText(attribution)}`,
  );
  return [...claims, ...people, ...said];
}
