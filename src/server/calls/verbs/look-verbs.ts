import { type EventFilter, parseFilter } from '../../../core/event/filter.ts';
import type { JsonObject } from '../../../core/json.ts';
import type { Point } from '../../../core/point.ts';
import type { FollowOptions, ForkOptions, ReplayOptions } from '../../../core/session/session-log.ts';
import type { EditOptions } from '../../../core/view/edit.ts';
import type { FollowingAudit } from '../../../engine/believing/audit.ts';
import type { Look } from '../../../engine/look.ts';
import type { FoldOptions } from '../../../engine/looking/fold-options.ts';
import type { ProveOptions } from '../../../engine/proving/prove.ts';
import { showAnswer } from '../../../reading/answers/show-answer.ts';
import { projectionNamed } from '../../../reading/shipped-projections.ts';
import { eventTexts, replayed } from '../answer-texts.ts';
import { type Arguments, apart, listIn, pagesOf, takes, textIn, type VerbEntry, writing } from '../verb-entry.ts';
import { branchAnswer } from './session-verbs.ts';

const editing = takes<EditOptions>({
  prompt: 'text?',
  system: 'text?',
  model: 'text?',
  tools: 'list?',
  edits: 'list?',
});

const supposing = takes<Omit<FoldOptions, 'snapshots' | keyof EditOptions>>({ exclude: 'list?', cascade: 'flag?' });

/** The arguments of a replay; a filter may be an object or the text that the command line takes. */
export const replaying: Arguments = takes<Omit<ReplayOptions, 'signal' | 'history'>>({
  types: 'list?',
  after: 'number?',
  through: 'number?',
  since: 'text?',
  until: 'text?',
  filter: 'any?',
  direction: 'text?',
  limit: 'number?',
});

/** Returns arguments with their filter as an object. */
export function withFilter(input: JsonObject): JsonObject & { readonly filter?: EventFilter } {
  const { filter } = input;
  return (typeof filter === 'string' ? { ...input, filter: parseFilter(filter) } : input) as JsonObject;
}

/** Returns the point of a look that was found. */
async function pointOf(look: Look | undefined): Promise<Point | null> {
  if (look === undefined) return null;
  const { branch, seq } = await look.locate();
  return { branch, seq };
}

type LookVerb =
  | 'locate'
  | 'fold'
  | 'folds'
  | 'replay'
  | 'find'
  | 'findLast'
  | 'known'
  | 'metadata'
  | 'counterfactual'
  | 'fingerprint'
  | 'verify'
  | 'prove'
  | 'audit'
  | 'fork'
  | 'export'
  | 'exportFiles'
  | 'handBack';

/** The verbs of a point. */
export const lookVerbs: Readonly<Record<`look.${LookVerb}`, VerbEntry>> = {
  'look.locate': {
    about: 'Returns where a ref is.',
    rights: ['read'],
    at: 'look',
    one: ({ look }) => look.locate(),
  },
  'look.fold': {
    about: 'Returns the value of a projection, or the value that it would have with edits or exclusions.',
    rights: ['read'],
    at: 'look',
    takes: { projection: 'text', ...supposing, snapshots: 'flag?', ...editing },
    one: ({ look, sha256 }, { projection, ...input }) =>
      look.fold(projectionNamed(String(projection), sha256).projection, input),
  },
  'look.folds': {
    about: 'Returns the values of several projections, by their names.',
    rights: ['read'],
    at: 'look',
    takes: { projections: 'list' },
    one: ({ look, sha256 }, input) => {
      const named = listIn(input, 'projections').map((name) => projectionNamed(String(name), sha256));
      return look.folds(Object.fromEntries(named.map(({ name, projection }) => [name, projection])));
    },
  },
  'look.replay': {
    about: 'Reads a history in order, and follows it if asked to. `leaveOut` names fields that are not sent.',
    rights: ['read'],
    at: 'look',
    takes: { ...replaying, history: 'text?', follow: 'flag?', leaveOut: 'list?' },
    many: ({ session, ref, until }, input) => {
      const options = apart<FollowOptions>(withFilter(input), 'leaveOut');
      const replay = replayed(session, ref, { ...options, signal: until(options) });
      return eventTexts(replay, listIn(input, 'leaveOut').map(String));
    },
  },
  'look.find': {
    about: 'Returns the point of the first event that a filter matches.',
    rights: ['read'],
    at: 'look',
    takes: { filter: 'any', history: 'text?' },
    one: async ({ look }, input) =>
      pointOf(await look.find(withFilter(input).filter as EventFilter, apart(input, 'filter'))),
  },
  'look.findLast': {
    about: 'Returns the point of the last event that a filter matches.',
    rights: ['read'],
    at: 'look',
    takes: { filter: 'any', history: 'text?' },
    one: async ({ look }, input) =>
      pointOf(await look.findLast(withFilter(input).filter as EventFilter, apart(input, 'filter'))),
  },
  'look.known': {
    about: 'Returns everything that the agent of the point knew there.',
    rights: ['read'],
    at: 'look',
    one: async ({ look, ref }) => showAnswer({ ref }, await look.known()),
  },
  'look.metadata': {
    about: 'Returns the metadata of a branch.',
    rights: ['read'],
    at: 'look',
    one: ({ look }) => look.metadata(),
  },
  'look.counterfactual': {
    about: 'Returns what a view without some events, or with edits, would be.',
    rights: ['read'],
    at: 'look',
    takes: { projection: 'text', ...supposing, ...editing },
    one: ({ look, sha256 }, { projection, ...input }) =>
      look.counterfactual(projectionNamed(String(projection), sha256).projection, input),
  },
  'look.fingerprint': {
    about: 'Returns how a history behaved.',
    rights: ['read'],
    at: 'look',
    one: ({ look }) => look.fingerprint(),
  },
  'look.verify': {
    about: 'Checks the chain of a session up to a point; `deep` checks what is derived from it, too.',
    rights: ['read'],
    at: 'look',
    takes: { head: 'text?', deep: 'flag?' },
    one: ({ look }, input) => look.verify(input),
  },
  'look.prove': {
    about: 'Proves that an event is in a history, or with `since` that a history continues an earlier one.',
    rights: ['read'],
    at: 'look',
    takes: takes<ProveOptions>({ since: 'number?', payload: 'flag?' }),
    one: ({ look }, input) => look.prove(input),
  },
  'look.audit': {
    about: 'Reads the events about agents, claims and tasks again.',
    rights: ['read'],
    at: 'look',
    takes: takes<Omit<FollowingAudit, 'signal'>>({
      limit: 'number?',
      after: 'number?',
      filter: 'any?',
      follow: 'flag?',
    }),
    many: ({ look, on, until }, input) => {
      const { follow, ...options } = withFilter(input) as FollowingAudit;
      const signal = until({ follow: follow === true });
      return pagesOf(follow === true ? on.audit({ ...options, follow, signal }) : look.audit({ ...options, signal }));
    },
  },
  'look.fork': {
    about: 'Makes a branch at a point, with edits.',
    rights: writing,
    at: 'look',
    takes: {
      ...takes<Omit<ForkOptions, keyof EditOptions>>({
        name: 'text?',
        reason: 'text?',
        agent: 'text?',
        metadata: 'object?',
      }),
      ...editing,
    },
    one: async ({ look }, input) => branchAnswer(await look.fork(input)),
  },
  'look.export': {
    about: 'Writes the view in the format of a different system, as text.',
    rights: ['read'],
    at: 'look',
    takes: { format: 'text' },
    one: ({ look }, input) => look.export({ format: textIn(input, 'format') }).text(),
  },
  'look.exportFiles': {
    about: 'Returns every file that the view makes in the format of a different system; bytes are in base64.',
    rights: ['read'],
    at: 'look',
    takes: { format: 'text' },
    one: async ({ look }, input) => {
      const { files, ...exported } = await look.export({ format: textIn(input, 'format') }).files();
      const written = files.map(({ file, bytes }) => ({ file, base64: Buffer.from(bytes).toString('base64') }));
      return { ...exported, files: written };
    },
  },
  'look.handBack': {
    about: 'Returns the file from which the tool of a format resumes a session, and its path.',
    rights: ['read'],
    at: 'look',
    takes: { format: 'text' },
    one: ({ look }, input) => look.handBack({ format: textIn(input, 'format') }),
  },
};
