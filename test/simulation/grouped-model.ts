/**
 * Running forward as a slow, obvious program, for fleets whose agents speak on a topic of their own: what stands is the
 * last claim on each topic. A turn runs again if who the agent is, what it said before, or what it sees is not what it
 * was when the turn was recorded.
 */

/** A fleet: what each agent sees, and what it says of what it is given. */
export interface ModelFleet {
  readonly agents: readonly { readonly name: string; readonly topic: string; readonly scope: readonly string[] }[];
  readonly says: (turn: number, seen: readonly string[]) => string;
}

/** A claim that is put in the place of what stands on a topic, in the turn after a fork. */
export interface ModelMutation {
  readonly forkTurn: number;
  readonly agent: string;
  readonly topic: string;
  readonly claim: string;
}

/** One line of history: what stands, what everybody said, and what went into each turn. */
class Line {
  readonly standing = new Map<string, string>();
  readonly said = new Map<string, string[]>();
  readonly inputs = new Map<string, string>();

  say(agent: string, topic: string, claim: string): void {
    this.standing.set(topic, `${agent}: ${claim}`);
    this.ownOf(agent).push(claim);
  }

  ownOf(agent: string): string[] {
    const own = this.said.get(agent) ?? [];
    this.said.set(agent, own);
    return own;
  }

  seenBy(scope: readonly string[]): string[] {
    return scope.flatMap((topic) => this.standing.get(topic) ?? []).sort();
  }
}

/** Returns the turns that run on a branch with a mutation, as `turn agent`, and what stands on it in the end. */
export function modelForward(
  { agents, says }: ModelFleet,
  untilTurn: number,
  mutation: ModelMutation,
): { readonly live: readonly string[]; readonly standing: readonly string[] } {
  const [original, branch] = [new Line(), new Line()];
  const live: string[] = [];
  const runOn = (line: Line, turn: number): void => {
    for (const { name, topic, scope } of agents) {
      const [seen, own] = [line.seenBy(scope), line.ownOf(name)];
      line.inputs.set(`${turn} ${name}`, JSON.stringify([seen, own]));
      line.say(name, topic, says(turn, seen));
    }
  };
  for (let turn = 1; turn <= untilTurn; turn++) {
    runOn(original, turn);
    if (turn === mutation.forkTurn + 1) branch.say(mutation.agent, mutation.topic, mutation.claim);
    runOn(branch, turn);
    if (turn <= mutation.forkTurn) continue;
    for (const { name } of agents) {
      const at = `${turn} ${name}`;
      if (original.inputs.get(at) !== branch.inputs.get(at)) live.push(at);
    }
  }
  return { live, standing: [...branch.standing.values()].sort() };
}
