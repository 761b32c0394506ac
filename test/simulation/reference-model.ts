/** The program that says what running forward means, where it lies beside this checkout. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { claimText, eventText, type ForwardModel, type ModelAgent, type ModelRan } from './forward-model.ts';

type Data = Readonly<Record<string, unknown>>;
interface ReferenceEvent {
  readonly id: string;
  readonly type: string;
  readonly agent?: string;
  readonly turn: number;
  readonly data: Data;
}
type Verb<Result = void> = (...words: readonly unknown[]) => Result;
interface Beliefs {
  readonly createSession: Verb<unknown>;
  readonly spawn: Verb;
  readonly mutate: Verb;
  readonly fork: Verb;
  readonly view: Verb<readonly ReferenceEvent[]>;
  readonly beliefsAt: Verb<readonly ReferenceEvent[]>;
}
interface Forward {
  readonly runForward: Verb<Record<'live' | 'reused', readonly { readonly agent: string; readonly turn: number }[]>>;
}

const folder = new URL('../../../shared/reference/beliefs/', import.meta.url);

/** Whether the program is there. */
export const hasReference: boolean = existsSync(fileURLToPath(new URL('forward-model.mjs', folder)));

/** Returns a function that makes a session of the program. */
export async function loadReference(): Promise<() => ForwardModel> {
  const m = (await import(new URL('model.mjs', folder).href)) as Beliefs;
  const f = (await import(new URL('forward-model.mjs', folder).href)) as Forward;
  return () => {
    const s = m.createSession();
    return {
      spawn: (branch, agent, scope, fromTurn) => m.spawn(s, branch, agent, { scope, fromTurn }),
      mutate: (branch, claim) => m.mutate(s, branch, claim),
      fork: (turn, name) => m.fork(s, 'main', { turn }, name),
      standing: (branch, turn) =>
        m
          .beliefsAt(s, branch, { turn })
          .map(({ agent, data }) => claimText(agent, data['topic'], data['claim']))
          .sort(),
      run: (branch, { untilTurn, agents, reuseUnchanged }) => {
        const onTurn = Object.fromEntries(Object.entries(agents).map(([name, agent]) => [name, asFunction(agent)]));
        const { live, reused } = f.runForward(s, branch, { untilTurn, onTurn, reuseUnchanged });
        return ranOn(m.view(s, branch), live, reused);
      },
    };
  };
}

/** Returns an agent as the program calls it. */
function asFunction({ topic, says }: ModelAgent): (inputs: readonly string[], turn: number) => readonly Data[] {
  return (inputs, turn) => {
    const of = (kind: string): string[] =>
      inputs
        .filter((text) => text.startsWith(`${kind} `))
        .map((text) => {
          const [, agent, claim, about] = JSON.parse(text.slice(kind.length + 1)) as readonly unknown[];
          return claimText(agent, about, claim);
        });
    const claim = says({ did: of('did'), sees: of('sees').sort() }, turn);
    return claim === undefined ? [] : [{ claim, topic, kind: 'decision' }];
  };
}

function ranOn(
  view: readonly ReferenceEvent[],
  live: readonly { readonly agent: string; readonly turn: number }[],
  reused: readonly { readonly agent: string; readonly turn: number }[],
): ModelRan {
  const byId = new Map(view.map((event) => [event.id, event]));
  const becauseOf = (agent: string, turn: number): readonly string[] => {
    const begun = view.findLast((e) => e.type === 'turn.started' && e.agent === agent && e.turn === turn);
    const ids = (begun?.data['because'] ?? []) as readonly string[];
    return ids.flatMap((id) => byId.get(id) ?? []).map(eventText);
  };
  return {
    live: live.map(({ agent, turn }) => ({ turn: `${turn} ${agent}`, because: [...becauseOf(agent, turn)].sort() })),
    reused: reused.map(({ agent, turn }) => `${turn} ${agent}`),
  };
}
