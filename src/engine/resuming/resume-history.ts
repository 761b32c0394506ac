import { RepriseError } from '../../core/error.ts';
import type { Event } from '../../core/event/event.ts';
import type { JsonObject } from '../../core/json.ts';
import { partsOf } from '../../core/message/message.ts';
import { type HeldMessage, type Mended, mend, type Repair, takePrompt } from '../../core/message/repair.ts';
import type { Seq } from '../../core/point.ts';
import type { BranchSettings, Floor, ResumableAgent, ResumeContext } from '../../core/recording/agent.ts';
import { refText } from '../../core/ref.ts';
import type { LaneConversation } from '../../core/session/conversation-lane.ts';
import { entryOf, type View, viewAt } from '../../core/view/view.ts';
import type { Conversation } from '../../projections/conversation.ts';
import type { Engine } from '../context/engine.ts';
import type { Place } from '../history/place.ts';
import { sightAt } from '../history/sight.ts';
import { readPoints, unwrap } from '../history/stored-events.ts';
import { replay } from '../looking/replay.ts';
import { loggedConversation } from './logged-conversation.ts';

/** The history of a branch as an agent continues it. */
export interface ResumableHistory {
  /** The conversation that is continued; undefined if there is none yet. */
  readonly lane: LaneConversation | undefined;
  /** The history without its prompt. */
  readonly messages: readonly HeldMessage[];
  readonly prompt: HeldMessage | undefined;
  readonly floor: Floor;
  readonly pending: Mended['pending'];
  readonly settings: BranchSettings;
  readonly settingsOf: ResumeContext['settingsOf'];
  readonly repairs: readonly Repair[];
}

/** Whose conversation is continued, and by which model if the branch names none. */
export interface Continued {
  /** The agent that continues, and those it can hand off to: the last active conversation of them is continued. */
  readonly agents?: readonly string[];
  readonly run?: string | undefined;
  readonly model?: string | undefined;
}

/** Returns whose conversation an agent continues: that of the named agent, else its own or that of a handoff's target. */
export function continuedBy<Run, Result>(
  { name, handsOffTo = [], model }: ResumableAgent<Run, Result>,
  { agentName, continues }: { readonly agentName?: string | undefined; readonly continues?: string | undefined },
): Continued {
  const own = name === undefined ? [] : [name, ...handsOffTo];
  return { agents: agentName === undefined ? own : [agentName], run: continues, model };
}

/** Reads the conversation at a place, mended for the model that will get it. */
export async function resumableHistory(engine: Engine, place: Place, who: Continued): Promise<ResumableHistory> {
  const lane = await loggedConversation(sightAt(engine, place), (seen) => laneFor(seen, who));
  const changes = await settingsChanged(engine, place);
  const continuing = lane?.agent ?? who.agents?.[0];
  const settings = settingsFor(
    changes,
    (agent) => agent === undefined || typeof continuing !== 'string' || agent === continuing,
  );
  const messages = lane?.messages ?? [];
  const writers = await writersOf(engine, place, lane);
  const called = lane?.calledAt === null || lane === undefined ? undefined : writers.get(lane.calledAt);
  const model = settings.model ?? who.model ?? called;
  const view = viewAt(place.history, place.seq);
  const isEdited = (seq: number): boolean => entryOf(view, seq as Seq)?.carried === true;
  const mended = mend(messages, { model, writerOf: (seq) => writers.get(seq) ?? called, isEdited });
  const { prompt, repairs, messages: rest } = takePrompt(mended.messages);
  return {
    lane,
    messages: rest,
    prompt,
    floor: floorOf(view, lane, rest),
    pending: mended.pending,
    settings,
    settingsOf: (name, continues = false) =>
      settingsFor(changes, (agent) => agent === name || (continues && agent === undefined)),
    repairs: [...mended.repairs, ...repairs],
  };
}

/**
 * Returns who has the floor: the agent of the conversation, and the first message that came after its last model call.
 * An edited message is as old as the one it replaces.
 */
function floorOf(view: View, lane: LaneConversation | undefined, messages: readonly HeldMessage[]): Floor {
  const age = (seq: number): number => entryOf(view, seq as Seq)?.answers[0] ?? seq;
  const called = lane === undefined || lane.calledAt === null ? Number.POSITIVE_INFINITY : age(lane.calledAt);
  const last = messages.findLastIndex(({ seq }) => age(seq) <= called);
  return { agent: lane?.agent ?? null, from: last + 1 };
}

/** Picks the conversation of a run, else the last active one of the agents, else the one that last moved on. */
function laneFor(seen: Conversation, { agents = [], run }: Continued): LaneConversation | undefined {
  const ofRun = run === undefined ? undefined : seen.lanes.find((lane) => lane.run === run);
  const ofAgents = seen.lanes.find((lane) => lane.agent !== null && agents.includes(lane.agent));
  return ofRun ?? ofAgents ?? (seen.messages.length > 0 || seen.calledAt !== null ? seen : undefined);
}

/** Reads every `settings.changed` before a place, the last one first. */
async function settingsChanged(engine: Engine, place: Place): Promise<readonly Event[]> {
  const filter = { types: ['settings.changed'] };
  const events: Event[] = [];
  for await (const event of replay(engine, place, { filter, direction: 'backward' })) events.push(event);
  return events;
}

/**
 * Returns the last settings for an agent. The settings of earlier calls do not count: a caller who changed the agent's
 * own prompt wants the new one.
 */
function settingsFor(changes: readonly Event[], isMeant: (agent: string | undefined) => boolean): BranchSettings {
  const said: Record<string, unknown> = {};
  for (const { data } of changes.filter((event) => isMeant(event.agent)))
    for (const name of ['model', 'system', 'tools', 'settings'])
      if (data[name] !== undefined && !Object.hasOwn(said, name)) said[name] = data[name];
  return { model: null, system: null, tools: null, settings: null, ...said };
}

/**
 * Finds the models that wrote or got the messages that only some models can read, and the model that was called last.
 */
async function writersOf(
  engine: Engine,
  place: Place,
  lane: LaneConversation | undefined,
): Promise<ReadonlyMap<number, string>> {
  const wanted = new Set<Seq>(lane?.calledAt === null || lane === undefined ? [] : [lane.calledAt]);
  for (const { seq, message } of lane?.messages ?? [])
    if (message !== undefined && isParticular(message)) wanted.add(seq);
  const writers = new Map<number, string>();
  if (wanted.size === 0) return writers;
  const view: View = viewAt(place.history, place.seq);
  const entries = [...wanted].flatMap((seq) => entryOf(view, seq) ?? []);
  for (const event of await readPoints(engine, place.session, entries)) {
    const entry = entries.find(({ seq }) => seq === event.seq);
    const { data } = entry?.carried === true ? unwrap(event) : event;
    if (data['kind'] !== 'model' || typeof data['name'] !== 'string') continue;
    for (const seq of entry?.answers ?? []) writers.set(seq, data['name']);
    writers.set(event.seq, data['name']);
  }
  return writers;
}

/** Tells whether a message holds anything that depends on the model that wrote it. */
function isParticular(message: JsonObject): boolean {
  const holders: readonly JsonObject[] = [message, ...partsOf(message)];
  return holders.some(
    (held) =>
      held['type'] === 'reasoning' ||
      held['providerExecuted'] === true ||
      held['providerOptions'] !== undefined ||
      held['providerMetadata'] !== undefined,
  );
}

/** Throws if nothing in the history waits for an answer. */
export function checkGoesOn(place: Place, history: ResumableHistory): void {
  if (history.prompt !== undefined || history.pending.length > 0) return;
  if (history.messages.at(-1)?.message['role'] === 'tool') return;
  const ref = refText({ session: place.session, branch: place.record.branch, at: { kind: 'head' } });
  const why =
    history.messages.length === 0
      ? 'it holds no message'
      : 'its last message is an answer, and nothing was asked since';
  throw new RepriseError('resume.nothing', `Cannot resume "${ref}": ${why}`, {
    hint: 'Pass a prompt, or fork before the answer.',
  });
}
