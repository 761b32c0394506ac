import { arrayAt, type JsonObject } from '../../../core/json.ts';
import type { ReplayAllOptions } from '../../../engine/looking/replay-all.ts';
import type { SessionsPageOptions } from '../../../engine/reprise-options.ts';
import { projectionNamed } from '../../../reading/shipped-projections.ts';
import { apart, pagesOf, takes, textIn, type VerbEntry } from '../verb-entry.ts';
import { withFilter } from './look-verbs.ts';

const pageTakes = takes<SessionsPageOptions>({ limit: 'number?', cursor: 'text?', allNamespaces: 'flag?' });

type RepriseVerb =
  | 'session'
  | 'createSession'
  | 'sessions'
  | 'sessionsPage'
  | 'replay'
  | 'diff'
  | 'findExperiment'
  | 'resolve'
  | 'sessionSize';

/** The verbs of a store. */
export const repriseVerbs: Readonly<Record<`reprise.${RepriseVerb}`, VerbEntry>> = {
  'reprise.session': {
    about: 'Opens a session, or creates it with `create`, which takes the right `append`, too.',
    rights: ['read'],
    at: 'store',
    takes: { session: 'text', create: 'flag?', metadata: 'object?' },
    one: async ({ reprise }, input) => ({
      session: (await reprise.session(textIn(input, 'session'), apart(input, 'session'))).id,
    }),
  },
  'reprise.createSession': {
    about: 'Creates a session; it gets a new id if none is given.',
    rights: ['append'],
    at: 'store',
    takes: { session: 'text?', metadata: 'object?' },
    one: async ({ reprise }, input) => ({
      session: (await reprise.createSession(input['session'] as string | undefined, apart(input, 'session'))).id,
    }),
  },
  'reprise.sessions': {
    about: 'Lists sessions, last appended to first.',
    rights: ['read'],
    at: 'store',
    takes: { allNamespaces: 'flag?' },
    many: ({ reprise }, input) => pagesOf(reprise.sessions(input)),
  },
  'reprise.sessionsPage': {
    about: 'Lists some sessions, last appended to first, and the cursor of the next ones.',
    rights: ['read'],
    at: 'store',
    takes: pageTakes,
    one: ({ reprise }, input) => reprise.sessionsPage(input),
  },
  'reprise.replay': {
    about: 'Reads the events of many sessions, in the order of their times.',
    rights: ['read'],
    at: 'store',
    takes: takes<Omit<ReplayAllOptions, 'signal'>>({
      agent: 'text?',
      sessions: 'list?',
      since: 'text?',
      until: 'text?',
      filter: 'any?',
      limit: 'number?',
    }),
    many: ({ reprise, until }, input) => pagesOf(reprise.replay({ ...withFilter(input), signal: until({}) })),
  },
  'reprise.diff': {
    about: 'Compares the views at two refs; `states` names projections.',
    rights: ['read'],
    at: 'store',
    takes: {
      left: 'text',
      right: 'text',
      states: 'list?',
      beliefs: 'flag?',
      fromTurn: 'number?',
      sustainedEvents: 'number?',
      strict: 'flag?',
      format: 'text?',
    },
    one: ({ reprise, sha256 }, input) => {
      const states = arrayAt(input, 'states')?.map((name) => projectionNamed(String(name), sha256).projection);
      const options: JsonObject = apart(input, 'left', 'right', 'states');
      return reprise.diff(textIn(input, 'left'), textIn(input, 'right'), states ? { ...options, states } : options);
    },
  },
  'reprise.findExperiment': {
    about: 'Returns the result of an experiment on many sessions.',
    rights: ['read'],
    at: 'store',
    takes: { experiment: 'text' },
    one: ({ reprise }, input) => reprise.findExperiment(textIn(input, 'experiment')),
  },
  'reprise.resolve': {
    about: 'Reads a ref; `latest` becomes the session last appended to.',
    rights: ['read'],
    at: 'store',
    takes: { ref: 'text' },
    one: ({ reprise }, input) => reprise.resolve(textIn(input, 'ref')),
  },
  'reprise.sessionSize': {
    about: 'Measures what a session takes in the store.',
    rights: ['read'],
    at: 'store',
    takes: { session: 'text' },
    one: ({ reprise }, input) => reprise.sessionSize(textIn(input, 'session')),
  },
};
