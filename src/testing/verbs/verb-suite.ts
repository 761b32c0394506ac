import type { Reprise } from '../../engine/reprise.ts';
import type { Session } from '../../engine/session.ts';
import { append } from './append.ts';
import { edit, fork, redo, revert, rewind } from './changing.ts';
import { copying } from './copying.ts';
import { editing } from './editing.ts';
import { effects } from './effects.ts';
import { effectsBeside } from './effects-beside.ts';
import { erase } from './erasing.ts';
import { experiment, retry } from './experimenting.ts';
import { importing } from './importing.ts';
import { counterfactual, stateAt } from './looking.ts';
import { mistyping } from './mistyping.ts';
import { diff, fingerprint, sessions, verify } from './proving.ts';
import { userTurns } from './recorded-turns.ts';
import { record } from './recording.ts';
import { find, replay } from './replay.ts';
import { resume } from './resuming.ts';
import { branching, reading } from './state-reading.ts';
import { replaying } from './state-replaying.ts';
import { isolation, lifeCycle } from './state-transactions.ts';
import { stopping } from './stopping.ts';
import type { VerbCase } from './verb-case.ts';

/** Every verb: a new one without cases does not compile. */
type Verb = Exclude<keyof Session, 'id'> | Exclude<keyof Reprise, typeof Symbol.asyncDispose>;

/**
 * What every way of opening Reprise must do, verb by verb. Verbs that are proved together share their cases.
 *
 * @example
 * ```ts
 * for (const { run } of verbSuite.fork) await run(() => openReprise('memory:'));
 * ```
 */
export const verbSuite: Readonly<Record<Verb, readonly VerbCase[]>> = {
  append,
  record,
  replay,
  find,
  findLast: find,
  stateAt,
  state: [...lifeCycle, ...isolation, ...reading, ...branching, ...replaying],
  counterfactual,
  fork: [...fork, ...mistyping],
  edit: [...edit, ...editing],
  resume: [...resume, ...stopping, ...userTurns, ...effects, ...effectsBeside],
  retry,
  experiment,
  rewind,
  revert,
  redo,
  erase,
  fingerprint,
  verify,
  diff,
  copy: copying,
  import: importing,
  export: importing,
  branch: fork,
  tree: sessions,
  toJSON: sessions,
  locate: verify,
  metadata: sessions,
  setMetadata: sessions,
  dropSnapshots: stateAt,
  delete: sessions,
  session: sessions,
  createSession: sessions,
  sessions,
  namespace: sessions,
  currentNamespace: sessions,
  resolve: diff,
  health: sessions,
  close: sessions,
};
