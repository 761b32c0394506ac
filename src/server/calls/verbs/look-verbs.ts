import { type EventFilter, parseFilter } from '../../../core/event/filter.ts';
import type { JsonObject } from '../../../core/json.ts';
import { refText } from '../../../core/ref.ts';
import type { ForkOptions, ReplayOptions } from '../../../core/session/session-log.ts';
import type { EditOptions } from '../../../core/view/edit.ts';
import type { AuditOptions } from '../../../engine/believing/audit.ts';
import type { StateAtOptions } from '../../../engine/looking/state-at.ts';
import type { ProveOptions } from '../../../engine/proving/prove.ts';
import { knownAt, showAnswer } from '../../../reading/answers/known-at.ts';
import { openRef } from '../../../reading/open-ref.ts';
import { projectionNamed } from '../../../reading/shipped-projections.ts';
import { eventTexts } from '../answer-texts.ts';
import { type Arguments, apart, listIn, pagesOf, takes, textIn, type VerbEntry, writing } from '../verb-entry.ts';
import { branchAnswer } from './session-verbs.ts';

const editing = takes<EditOptions>({
  prompt: 'text?',
  system: 'text?',
  model: 'text?',
  tools: 'list?',
  edits: 'list?',
});

const supposing = takes<Omit<StateAtOptions, 'snapshots' | keyof EditOptions>>({ exclude: 'list?', cascade: 'flag?' });

/** The arguments of a replay; a filter may be an object or the text that the command line takes. */
export const replaying: Arguments = takes<Omit<ReplayOptions, 'at' | 'signal' | 'history' | 'follow'>>({
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
    one: ({ session, point }) => session.locate(point),
  },
  'look.fold': {
    about: 'Returns the value of a projection, or the value that it would have with edits or exclusions.',
    rights: ['read'],
    at: 'look',
    takes: { projection: 'text', ...supposing, snapshots: 'flag?', ...editing },
    one: ({ session, point, sha256 }, { projection, ...input }) =>
      session.stateAt(point, projectionNamed(String(projection), sha256).projection, input),
  },
  'look.folds': {
    about: 'Returns the values of several projections, by their names.',
    rights: ['read'],
    at: 'look',
    takes: { projections: 'list' },
    one: async ({ session, point, sha256 }, input) => {
      const named = listIn(input, 'projections').map((name) => projectionNamed(String(name), sha256));
      const { branch, seq } = await session.locate(point);
      return Object.fromEntries(
        await Promise.all(
          named.map(async ({ name, projection }) => [name, await session.stateAt({ branch, seq }, projection)]),
        ),
      );
    },
  },
  'look.replay': {
    about: 'Reads a history in order, and follows it if asked to. `leaveOut` names fields that are not sent.',
    rights: ['read'],
    at: 'look',
    takes: { ...replaying, history: 'text?', follow: 'flag?', leaveOut: 'list?' },
    many: ({ session, point, until }, input) => {
      const options = apart<ReplayOptions>(withFilter(input), 'leaveOut');
      const replay = session.replay({ ...options, at: point, signal: until(options) });
      return eventTexts(replay, listIn(input, 'leaveOut').map(String));
    },
  },
  'look.find': {
    about: 'Returns the point of the first event that a filter matches.',
    rights: ['read'],
    at: 'look',
    takes: { filter: 'any', history: 'text?' },
    one: ({ session, point }, input) =>
      session.find(withFilter(input).filter ?? {}, { ...apart(input, 'filter'), at: point }),
  },
  'look.findLast': {
    about: 'Returns the point of the last event that a filter matches.',
    rights: ['read'],
    at: 'look',
    takes: { filter: 'any', history: 'text?' },
    one: ({ session, point }, input) =>
      session.findLast(withFilter(input).filter ?? {}, { ...apart(input, 'filter'), at: point }),
  },
  'look.known': {
    about: 'Returns everything that the agent of the point knew there.',
    rights: ['read'],
    at: 'look',
    one: async ({ reprise, ref }) => {
      const open = await openRef(reprise, ref);
      return showAnswer(open, await knownAt(open));
    },
  },
  'look.metadata': {
    about: 'Returns the metadata of a branch.',
    rights: ['read'],
    at: 'look',
    one: ({ session, point }) => session.metadata(point),
  },
  'look.counterfactual': {
    about: 'Returns what a view without some events, or with edits, would be.',
    rights: ['read'],
    at: 'look',
    takes: { projection: 'text', ...supposing, ...editing },
    one: ({ session, point, sha256 }, { projection, ...input }) =>
      session.counterfactual(point, projectionNamed(String(projection), sha256).projection, input),
  },
  'look.fingerprint': {
    about: 'Returns how a history behaved.',
    rights: ['read'],
    at: 'look',
    one: ({ session, point }) => session.fingerprint(point),
  },
  'look.verify': {
    about: 'Checks the chain of a session up to a point; `deep` also checks what is derived from it.',
    rights: ['read'],
    at: 'look',
    takes: { head: 'text?', deep: 'flag?' },
    one: ({ session, point }, input) => session.verify({ ...input, at: point }),
  },
  'look.prove': {
    about: 'Proves that an event is in a history, or with `since` that a history continues an earlier one.',
    rights: ['read'],
    at: 'look',
    takes: takes<ProveOptions>({ since: 'number?', payload: 'flag?' }),
    one: ({ reprise, ref }, input) => reprise.prove(ref, input),
  },
  'look.audit': {
    about: 'Reads the events about agents, claims and tasks again.',
    rights: ['read'],
    at: 'look',
    takes: takes<Omit<AuditOptions, 'at' | 'signal'>>({
      limit: 'number?',
      after: 'number?',
      filter: 'any?',
      follow: 'flag?',
    }),
    many: ({ session, point, until }, input) =>
      pagesOf(session.audit({ ...withFilter(input), at: point, signal: until(input) })),
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
    one: async ({ session, point }, input) => branchAnswer(await session.fork(point, input)),
  },
  'look.export': {
    about: 'Writes the view in the format of a different system, as text.',
    rights: ['read'],
    at: 'look',
    takes: { format: 'text' },
    one: ({ reprise, ref }, input) => reprise.export(ref, { format: textIn(input, 'format') }),
  },
  'look.exportFiles': {
    about: 'Returns every file that the view makes in the format of a different system; bytes are in base64.',
    rights: ['read'],
    at: 'look',
    takes: { format: 'text' },
    one: async ({ reprise, ref }, input) => {
      const { files, ...exported } = await reprise.exportFiles(ref, { format: textIn(input, 'format') });
      const written = files.map(({ file, bytes }) => ({ file, base64: Buffer.from(bytes).toString('base64') }));
      return { ...exported, files: written };
    },
  },
  'look.handBack': {
    about: 'Returns the file from which the tool of a format resumes a session, and its path.',
    rights: ['read'],
    at: 'look',
    takes: { format: 'text' },
    one: ({ reprise, ref }, input) => reprise.handBack(refText(ref), { format: textIn(input, 'format') }),
  },
};
