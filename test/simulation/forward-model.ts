/**
 * Running a branch forward as a slow, obvious program over the slow model of beliefs: a recorded turn is repeated if who
 * the agent is, what it said before and what it sees are equal by content. The engine is held against it.
 */
import { BeliefModel, type Entry } from './belief-model.ts';

/** The inputs of an agent: its claims before, in order, and the claims that it sees, as a set. */
export interface ModelInputs {
  readonly did: readonly string[];
  readonly sees: readonly string[];
}

/** An agent: returns its claim on its own topic, or undefined if it says nothing. */
export interface ModelAgent {
  readonly topic: string;
  readonly says: (inputs: ModelInputs, turn: number) => string | undefined;
}

/** How to run forward on a model. */
export interface ModelRun {
  readonly untilTurn: number;
  readonly agents: Readonly<Record<string, ModelAgent>>;
  readonly reuseUnchanged: boolean;
}

/** The turns that ran, with the reasons they gave, and those that were repeated, as `turn agent`. */
export interface ModelRan {
  readonly live: readonly { readonly turn: string; readonly because: readonly string[] }[];
  readonly reused: readonly string[];
}

/** A model that runs forward: this port, or the program that it was ported from. */
export interface ForwardModel {
  readonly spawn: (branch: string, agent: string, scope: readonly string[], fromTurn?: number) => void;
  readonly mutate: (branch: string, claim: { agent: string; topic: string; claim: string }) => void;
  readonly fork: (turn: number, name: string) => void;
  readonly run: (branch: string, run: ModelRun) => ModelRan;
  readonly standing: (branch: string, turn: number) => readonly string[];
}

interface Input {
  readonly is: string;
  readonly topic?: unknown;
}

interface Recorded {
  readonly begun: Entry;
  readonly did: readonly Entry[];
}

/** Returns an event in words that are the same on the engine and on every model. */
export function eventText({
  type,
  agent,
  turn,
  data,
}: {
  readonly type: string;
  readonly agent?: string | undefined;
  readonly turn: number;
  readonly data: Readonly<Record<string, unknown>>;
}): string {
  return type === 'belief.committed' ? `${String(agent)}: ${String(data['claim'])}` : `${type} ${agent} ${turn}`;
}

/** Returns a claim in words. */
export const claimText = (agent: unknown, topic: unknown, claim: unknown): string =>
  `${String(agent)} on ${String(topic)}: ${String(claim)}`;

/** The port. */
export class PortedModel implements ForwardModel {
  readonly #beliefs = new BeliefModel('last-write-wins');
  #count = 0;

  spawn(branch: string, agent: string, scope: readonly string[], fromTurn?: number): void {
    const turn = Math.max(
      (this.#beliefs.branches.get(branch)?.parent?.turn ?? -1) + 1,
      this.#beliefs.view(branch).at(-1)?.turn ?? 0,
    );
    const isToCome = fromTurn !== undefined && fromTurn > turn;
    const data = { scope, ...(isToCome ? { fromTurn } : {}) };
    this.#beliefs.append(branch, [{ type: 'agent.spawned', agent, turn, data }]);
  }

  mutate(branch: string, claim: { agent: string; topic: string; claim: string }): void {
    this.#beliefs.commit(branch, { ...claim, kind: 'decision', id: `m-${this.#count++}` }, true);
  }

  fork(turn: number, name: string): void {
    this.#beliefs.fork('main', turn, name);
  }

  standing(branch: string, turn: number): readonly string[] {
    const stands = new Set(this.#beliefs.beliefsAt(branch, { turn }));
    const claims = this.#beliefs.view(branch).filter(({ ids }) => stands.has(ids[0] as string));
    return claims.map(({ agent, data }) => claimText(agent, data['topic'], data['claim'])).sort();
  }

  run(branch: string, { untilTurn, agents, reuseUnchanged }: ModelRun): ModelRan {
    const original = this.#beliefs.branches.get(branch)?.parent?.branch;
    const live: { turn: string; because: readonly string[] }[] = [];
    const reused: string[] = [];
    for (let turn = this.#forkTurn(branch) + 1; turn <= untilTurn; turn++) {
      for (const agent of this.#agentsOf(branch, original, turn, agents)) {
        const inputs = this.#inputsAt(branch, agent, turn);
        const record = original === undefined ? undefined : this.#recorded(original, agent, turn);
        const before = record && this.#inputsAt(original as string, agent, turn, record.begun.seq - 1);
        const isSame = before !== undefined && texts(before) === texts(inputs);
        const isRepeated = reuseUnchanged && isSame;
        const because = isRepeated ? undefined : this.#reasons(branch, original, agent, inputs, before ?? []);
        const data = isRepeated ? { reused: record?.begun.id } : { because: because?.map(({ id }) => id) };
        const [begun] = this.#beliefs.append(branch, [{ type: 'turn.started', agent, turn, data }]);
        const cause = begun?.id ?? '';
        const { topic, says } = agents[agent] as ModelAgent;
        const said = isRepeated
          ? (record?.did ?? []).map((event) => String(event.data['claim']))
          : [says(given(inputs), turn)].filter((claim) => claim !== undefined);
        for (const claim of said)
          this.#beliefs.commit(branch, {
            id: `f-${this.#count++}`,
            agent,
            topic,
            claim,
            kind: 'decision',
            turn,
            cause,
          });
        this.#beliefs.append(branch, [{ type: 'turn.ended', agent, turn, cause, data: { outcome: 'ok' } }]);
        if (because === undefined) reused.push(`${turn} ${agent}`);
        else live.push({ turn: `${turn} ${agent}`, because: because.map(eventText).sort() });
      }
      this.#beliefs.append(branch, [{ type: 'turn.ended', turn, data: { outcome: 'ok' } }]);
    }
    return { live, reused };
  }

  #forkTurn(branch: string): number {
    return this.#beliefs.branches.get(branch)?.parent?.turn ?? 0;
  }

  /** Returns the scope of an agent that is there; undefined if it is not. */
  #scopeAt(branch: string, agent: string, turn: number, seq?: number): readonly string[] | undefined {
    const spawned = this.#beliefs
      .view(branch, seq)
      .findLast((event) => event.type === 'agent.spawned' && event.agent === agent && event.turn <= turn);
    const since = Number(spawned?.data['fromTurn'] ?? 0);
    return spawned === undefined || since > turn ? undefined : (spawned.data['scope'] as readonly string[]);
  }

  #inputsAt(branch: string, agent: string, turn: number, seq?: number): readonly Input[] {
    const scope = this.#scopeAt(branch, agent, turn, seq);
    const look = seq === undefined ? { turn } : { turn, seq };
    const stands = new Set(scope === undefined ? [] : this.#beliefs.beliefsAt(branch, look));
    const claims = this.#beliefs.view(branch, seq).filter((e) => e.type === 'belief.committed' && e.turn <= turn);
    const inputOf = (kind: string) => (event: Entry) => ({
      is: `${kind} ${claimText(event.agent, event.data['topic'], event.data['claim'])}`,
      topic: event.data['topic'],
    });
    const isSeen = ({ ids, data }: Entry): boolean =>
      stands.has(ids[0] as string) && scope?.includes(String(data['topic'])) === true;
    return [
      { is: `who ${JSON.stringify(scope)}` },
      ...claims.filter((event) => event.agent === agent).map(inputOf('did')),
      ...claims
        .filter(isSeen)
        .map(inputOf('sees'))
        .sort((a, b) => (a.is < b.is ? -1 : 1)),
    ];
  }

  #recorded(branch: string, agent: string, turn: number): Recorded | undefined {
    const events = this.#beliefs.view(branch);
    const begun = events.find((e) => e.type === 'turn.started' && e.agent === agent && e.turn === turn);
    if (begun === undefined || !events.some((e) => e.type === 'turn.ended' && e.cause === begun.id)) return undefined;
    return { begun, did: events.filter((e) => e.type === 'belief.committed' && e.cause === begun.id) };
  }

  #agentsOf(
    branch: string,
    original: string | undefined,
    turn: number,
    agents: Readonly<Record<string, ModelAgent>>,
  ): readonly string[] {
    const named = (events: readonly Entry[]): string[] => events.map(({ agent }) => String(agent));
    const acted = this.#beliefs
      .view(original ?? branch)
      .filter((event) => event.type === 'turn.started' && event.turn === turn);
    const joined = this.#beliefs.view(branch).filter(({ type }) => type === 'agent.spawned');
    return [...new Set([...named(acted), ...named(joined)])].filter(
      (agent) => Object.hasOwn(agents, agent) && this.#scopeAt(branch, agent, turn) !== undefined,
    );
  }

  #reasons(
    branch: string,
    original: string | undefined,
    agent: string,
    inputs: readonly Input[],
    before: readonly Input[],
  ): readonly Entry[] {
    const since = this.#beliefs.branches.get(branch)?.parent?.seq ?? 0;
    const mine = this.#beliefs.view(branch).filter(({ seq }) => seq > since);
    const topics = new Set([...lacking(inputs, before), ...lacking(before, inputs)]);
    const turns = new Map(mine.filter(({ type }) => type === 'turn.started').map((event) => [event.id, event]));
    const spokeOn = ({ agent: who, turn }: Entry): boolean =>
      this.#recorded(original ?? branch, String(who), turn)?.did.some(({ data }) => topics.has(data['topic'])) ?? false;
    const isRepeated = ({ cause }: Entry): boolean => turns.get(cause ?? '')?.data['reused'] !== undefined;
    return [
      ...mine.filter((event) => event.type.startsWith('agent.') && event.agent === agent),
      ...mine.filter((e) => e.type === 'belief.committed' && topics.has(e.data['topic']) && !isRepeated(e)),
      ...[...turns.values()].filter(
        (event) => event.data['because'] !== undefined && (event.agent === agent || spokeOn(event)),
      ),
    ];
  }
}

const texts = (inputs: readonly Input[]): string => JSON.stringify(inputs.map(({ is }) => is));

/** Returns what an agent is given of its inputs. */
function given(inputs: readonly Input[]): ModelInputs {
  const of = (kind: string): string[] =>
    inputs.filter(({ is }) => is.startsWith(`${kind} `)).map(({ is }) => is.slice(kind.length + 1));
  return { did: of('did'), sees: of('sees').sort() };
}

/** Returns the topics of the inputs that a different list does not have. */
function lacking(list: readonly Input[], other: readonly Input[]): readonly unknown[] {
  const rest = other.map(({ is }) => is);
  return list
    .filter(({ is, topic }) => {
      const at = rest.indexOf(is);
      if (at >= 0) rest.splice(at, 1);
      return at < 0 && topic !== undefined;
    })
    .map(({ topic }) => topic);
}
