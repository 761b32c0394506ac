import { RepriseError } from '../../core/error.ts';
import { shippedProjection } from '../../core/event/kept-name.ts';
import { finishValue, type Projection } from '../../core/event/projection.ts';
import type { JsonObject } from '../../core/json.ts';
import { partsOf } from '../../core/message/message.ts';
import { type HeldMessage, type Mended, mend, type Repair, takePrompt } from '../../core/message/repair.ts';
import type { Seq } from '../../core/point.ts';
import type { BranchSettings, Floor, ResumableAgent, ResumeContext } from '../../core/recording/agent.ts';
import type { PersonBook } from '../../core/recording/person-calls.ts';
import { refText } from '../../core/ref.ts';
import type { LaneConversation } from '../../core/session/conversation-lane.ts';
import { entryOf, type View, viewAt } from '../../core/view/view.ts';
import { type Conversation, conversation } from '../../projections/conversation.ts';
import { type SummaryState, summary } from '../../projections/summary.ts';
import { type Waiting, waiting } from '../../projections/waiting.ts';
import type { Engine } from '../context/engine.ts';
import { type FoldedValue, foldTogether } from '../history/fold-pass.ts';
import { followSummary } from '../history/keep-snapshots.ts';
import type { Place } from '../history/place.ts';
import { type Sight, sessionOf } from '../history/sight.ts';
import { readPoints, unwrap } from '../history/stored-events.ts';
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
  /** The questions to people, from the log alone: what a person decides about is handed to the agent. */
  readonly people: Waiting;
  /** The highest turn. */
  readonly turns: number;
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

/** A change of the settings, by an agent or for all. */
interface SettingsChange {
  readonly agent: string | null;
  readonly data: JsonObject;
}

/** Every change of the settings, in order. */
const settingsChanges: Projection<SettingsChange[]> = shippedProjection({
  name: 'settings changes',
  history: 'view',
  types: ['settings.changed'],
  initial: () => [],
  apply: (changes, { agent = null, data }) => {
    changes.push({ agent, data });
    return changes;
  },
});

/** Reads a sight once for everything that a resume needs, and mends the conversation for the model that will get it. */
export async function resumableHistory(sight: Sight, who: Continued): Promise<ResumableHistory> {
  const { engine } = sight;
  const { place } = sight.hypothesis;
  const [talk, people, changed, facts] = (await foldTogether(sight, [
    { projection: conversation, keep: 'due' },
    { projection: waiting, keep: 'never' },
    { projection: settingsChanges, keep: 'never' },
    { projection: summary, keep: 'due' },
  ])) as [FoldedValue, FoldedValue, FoldedValue, FoldedValue];
  const { turns } = finishValue(summary, facts.value as SummaryState);
  // The process learns the events of the resume, so that its end does not read the history again for the summary.
  if (sight.hypothesis.events.size === 0)
    followSummary(engine, place, facts.value as SummaryState, await sessionOf(sight));
  const lane = await loggedConversation(sight, talk, (seen) => laneFor(seen, who));
  const changes = (changed.value as SettingsChange[]).toReversed();
  const continuing = lane?.agent ?? who.agents?.[0];
  const settings = settingsFor(
    changes,
    (agent) => agent === null || typeof continuing !== 'string' || agent === continuing,
  );
  const messages = lane?.messages ?? [];
  const writers = await writersOf(engine, place, lane);
  const called = writers.get(lane?.calledAt ?? 0) ?? lane?.model ?? undefined;
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
      settingsFor(changes, (agent) => agent === name || (continues && agent === null)),
    repairs: [...mended.repairs, ...repairs],
    people: finishValue(waiting, people.value as PersonBook),
    turns,
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

/**
 * Returns the last settings for an agent. The settings of earlier calls do not count: a caller who changed the agent's
 * own prompt wants the new one.
 */
function settingsFor(changes: readonly SettingsChange[], isMeant: (agent: string | null) => boolean): BranchSettings {
  const said: Record<string, unknown> = {};
  for (const { data } of changes.filter((event) => isMeant(event.agent)))
    for (const name of ['model', 'system', 'tools', 'settings'])
      if (data[name] !== undefined && !Object.hasOwn(said, name)) said[name] = data[name];
  return { model: null, system: null, tools: null, settings: null, ...said };
}

/**
 * Finds the models that wrote or got the messages that only some models can read, and then the model that was called
 * last.
 */
async function writersOf(
  engine: Engine,
  place: Place,
  lane: LaneConversation | undefined,
): Promise<ReadonlyMap<number, string>> {
  const wanted = new Set<Seq>();
  for (const { seq, message } of lane?.messages ?? [])
    if (message !== undefined && isParticular(message)) wanted.add(seq);
  const writers = new Map<number, string>();
  if (wanted.size === 0 || lane === undefined) return writers;
  if (lane.calledAt !== null) wanted.add(lane.calledAt);
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

/** Returns true if a message contains anything that depends on the model that wrote it. */
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
    history.messages.length === 0 ? 'it has no message' : 'its last message is an answer, and nothing was asked since';
  throw new RepriseError('resume.nothing', `Cannot resume "${ref}": ${why}`, {
    hint: 'Pass a prompt, or fork before the answer.',
  });
}
