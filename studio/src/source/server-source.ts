import { type Client, createClient, type Transport } from '@connectrpc/connect';
import { parseJson } from '../../../src/core/canonical-json.ts';
import { hasCode, type RepriseError } from '../../../src/core/error.ts';
import { given, type JsonObject } from '../../../src/core/json.ts';
import { seq as toSeq } from '../../../src/core/point.ts';
import { parsePoint, pointText, refText } from '../../../src/core/ref.ts';
import { ServerService } from '../../../src/wire/generated/reprise/v1/server_pb.ts';
import { StudioService, type CutValue as WireCut } from '../../../src/wire/generated/reprise/v1/studio_pb.ts';
import type { StudioRun } from './answers.ts';
import { indexPart } from './index-parts.ts';
import type { LiveFeed } from './live-feed.ts';
import type { BranchChange, Cut, CutValue, PointName, StudioSource } from './studio-source.ts';
import { errorOf } from './transport.ts';
import { type AskVerb, verbsOf } from './verbs.ts';

/** Writes a point inside its session. */
const pointOf = ({ branch, seq }: Pick<PointName, 'branch' | 'seq'>): string =>
  pointText({ branch, at: { kind: 'seq', seq: toSeq(seq) } });

/** Writes a point with its session. */
const refOf = ({ session, branch, seq }: Pick<PointName, 'session' | 'branch' | 'seq'>): string =>
  refText({ session, branch, at: { kind: 'seq', seq: toSeq(seq) } });

const jsonOf = <Value>(text: string): Value => parseJson(text) as Value;
const textOf = (value: unknown): string => (value === undefined ? '' : JSON.stringify(value));

function cutOf<Value>(value: WireCut | undefined): CutValue<Value> {
  const cuts: Cut[] = (value?.cuts ?? []).map(({ path, shown, length, items }) => ({
    path,
    shown: Number(shown),
    length: Number(length),
    items,
  }));
  return { value: jsonOf<Value>(value?.json ?? 'null'), cuts };
}

/** Returns a source that throws errors as the server meant them. */
function honest(source: StudioSource): StudioSource {
  const wrapped: Record<string, unknown> = {};
  for (const [name, verb] of Object.entries(source) as [string, (...args: unknown[]) => unknown][])
    wrapped[name] = (...args: unknown[]): unknown => {
      const answer = verb(...args);
      return answer instanceof Promise ? answer.catch((error: unknown): never => raise(errorOf(error))) : answer;
    };
  return wrapped as unknown as StudioSource;
}

function raise(error: RepriseError): never {
  throw error;
}

interface Clients {
  readonly studio: Client<typeof StudioService>;
  readonly ask: AskVerb;
  readonly server: Client<typeof ServerService>;
}

/** Returns a source that asks a server. */
export function serverSource(transport: Transport, live: LiveFeed): StudioSource {
  const clients = {
    studio: createClient(StudioService, transport),
    ask: verbsOf(transport),
    server: createClient(ServerService, transport),
  };
  return honest({
    ...looks(clients),
    ...reads(clients),
    ...comparisons(clients),
    ...runs(clients),
    ...changes(clients),
    ...beginnings(clients, transport),
    follow: live.follow,
    onNews: live.onNews,
  });
}

/** Lets the page draw and take keys: parts that come together would else all be read before the first is shown. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.addEventListener('message', () => {
      port1.close();
      resolve();
    });
    port1.start();
    port2.postMessage(undefined);
  });
}

type Looks = 'rights' | 'sessions' | 'locate' | 'index' | 'events' | 'gists' | 'text' | 'store' | 'verify';

function looks({ studio, ask, server }: Clients): Pick<StudioSource, Looks> {
  return {
    async rights(signal) {
      const [{ rights }, { canRun, reason }] = await Promise.all([
        server.getVersion({}, { signal }),
        studio.listAgents({}, { signal }),
      ]);
      return {
        // One who administers may do everything.
        append: rights.includes('append') || rights.includes('admin'),
        run: canRun,
        admin: rights.includes('admin'),
        live: true,
        whyNoRuns: reason,
      };
    },
    async sessions(namespace, filter, cursor, signal) {
      const found = await studio.readSessions({ namespace, filter: textOf(filter), cursor }, { signal });
      return { items: found.sessions.map((text) => jsonOf(text)), cursor: found.cursor };
    },
    async locate(namespace, session, point, signal) {
      const name =
        session === 'latest'
          ? (await ask<{ session: string }>('reprise.resolve', namespace, { ref: 'latest' }, signal)).session
          : session;
      const ref = refText({ session: name, ...parsePoint(point) });
      const found = await ask<{ branch: string; seq: number; digest: string }>(
        'look.locate',
        namespace,
        { ref },
        signal,
      );
      const { branch, seq, digest } = found;
      return { namespace, session: name, branch, seq, digest };
    },
    async index({ namespace, session, branch }, around, after, take, signal) {
      const request = { namespace, session, branch, around: BigInt(around), after: BigInt(after) };
      for await (const response of studio.readIndex(request, { signal })) {
        const part = indexPart(response);
        if (part === undefined) continue;
        take(part);
        if (part.kind === 'rows') await nextTurn();
      }
    },
    async events(name, seqs, signal) {
      const { events } = await studio.readEvents({ ...name, seqs: seqs.map(BigInt) }, { signal });
      return events.map((event) => cutOf(event));
    },
    async gists(name, seqs, signal) {
      return (await studio.readGists({ ...name, seqs: seqs.map(BigInt) }, { signal })).gists;
    },
    async text({ seq, ...name }, path, offset, length, signal) {
      const found = await studio.readText(
        { ...name, seq: BigInt(seq), path, offset: BigInt(offset), length: BigInt(length) },
        { signal },
      );
      return { text: found.text, length: Number(found.length) };
    },
    async store(signal) {
      return jsonOf((await studio.readStore({}, { signal })).answer);
    },
    async verify({ namespace, session, branch }, head, signal) {
      const { ok, events, digest, reason } = await ask<{
        ok: boolean;
        events: number;
        digest: string | null;
        reason: string | null;
      }>('look.verify', namespace, { ref: refOf({ session, branch, seq: head }) }, signal);
      return { ok, events, digest: digest ?? '', problem: reason ?? undefined };
    },
  };
}

type Reads =
  | 'context'
  | 'known'
  | 'changes'
  | 'causes'
  | 'search'
  | 'counterfactual'
  | 'previewEdits'
  | 'previewChange';

function reads({ studio, ask }: Clients): Pick<StudioSource, Reads> {
  const at = ({ namespace, session, ...point }: PointName): { namespace: string; session: string; point: string } => ({
    namespace,
    session,
    point: pointOf(point),
  });
  return {
    async context(point, { against, edits, offset = 0, limit = 0 }, signal) {
      const request = {
        ...at(point),
        against: against === undefined ? '' : pointOf(against),
        edits: textOf(edits),
        offset,
        limit,
      };
      return cutOf((await studio.readContext(request, { signal })).answer);
    },
    async known(point, { since, edits, eyes = '', projections = [] }, signal) {
      const request = {
        ...at(point),
        since: since === undefined ? '' : pointOf(since),
        edits: textOf(edits),
        eyes,
        projections: [...projections],
      };
      return (await studio.readKnown(request, { signal })).sections.map((section) => cutOf(section));
    },
    async changes(point, projection, path, cursor, signal) {
      const found = await studio.readChanges({ ...at(point), projection, path, cursor }, { signal });
      return { items: found.changes.map((text) => jsonOf(text)), cursor: found.cursor };
    },
    async causes(point, signal) {
      return jsonOf((await studio.readCauses(at(point), { signal })).answer);
    },
    async search(point, { text = '', ...filter }, raw, cursor, signal) {
      const found = await studio.searchEvents({ ...at(point), text, filter: textOf(filter), raw, cursor }, { signal });
      return { items: found.hits.map((hit) => jsonOf(hit)), cursor: found.cursor, searched: Number(found.searched) };
    },
    async counterfactual(point, without, projection, signal) {
      const edits = [{ kind: 'drop', seq: without, cascade: true }];
      return await ask('look.counterfactual', point.namespace, { ref: refOf(point), projection, edits }, signal);
    },
    async previewEdits(point, edits, effects, signal) {
      return jsonOf(
        (await studio.previewEdits({ ...at(point), edits: textOf(edits), effects: textOf(effects) }, { signal }))
          .answer,
      );
    },
    async previewChange(point, change, options, signal) {
      return jsonOf(
        (await studio.previewChange({ ...at(point), change, options: textOf(options) }, { signal })).answer,
      );
    },
  };
}

type Comparisons = 'compare' | 'compareTable' | 'tree' | 'experiment' | 'exportPage';

function comparisons({ studio }: Clients): Pick<StudioSource, Comparisons> {
  return {
    async compare(left, right, states, cursor, namespace, signal) {
      const found = await studio.compareViews({ namespace, left, right, states: [...states], cursor }, { signal });
      const answer = found.answer === '' ? undefined : jsonOf<never>(found.answer);
      return { items: found.pairs.map((text) => jsonOf(text)), cursor: found.cursor, answer };
    },
    async compareTable(namespace, refs, signal) {
      return (await studio.compareTable({ namespace, refs: [...refs] }, { signal })).rows.map((text) => jsonOf(text));
    },
    async tree(namespace, session, cursor, signal) {
      const found = await studio.readTree({ namespace, session, cursor }, { signal });
      return { items: found.branches.map((text) => jsonOf(text)), cursor: found.cursor };
    },
    async experiment(namespace, session, id, signal) {
      const found = await studio.readExperiment({ namespace, session, experiment: id }, { signal });
      return { answer: found.answer === '' ? null : jsonOf(found.answer), ids: found.experiments };
    },
    async exportPage(namespace, ref, rules, signal) {
      const pieces: Uint8Array<ArrayBuffer>[] = [];
      for await (const { piece } of studio.exportPage({ namespace, ref, rules: textOf(rules) }, { signal }))
        pieces.push(new Uint8Array(piece));
      return new Blob(pieces, { type: 'text/html' });
    },
  };
}

type RunVerbs = 'agents' | 'runs' | 'startRun' | 'answer' | 'stop';

function runs({ studio }: Clients): Pick<StudioSource, RunVerbs> {
  return {
    async agents(signal) {
      return (await studio.listAgents({}, { signal })).agents.map((text) => jsonOf(text));
    },
    async runs(signal) {
      return (await studio.listRuns({}, { signal })).runs.map((text) => jsonOf(text));
    },
    async startRun({ namespace, session, ...point }, order, requestId) {
      // A branch continues at its head, whatever it is by now.
      const head = pointText({ branch: point.branch, at: { kind: 'head' } });
      const { run } = await studio.startRun({
        namespace,
        session,
        point: order.kind === 'resume' ? head : pointOf(point),
        order: textOf(order),
        requestId,
      });
      return jsonOf<StudioRun>(run);
    },
    async answer(run, question, answer) {
      const found = await studio.answerQuestion({ run, question, answer: textOf(answer) });
      return { accepted: found.accepted, run: jsonOf<StudioRun>(found.run) };
    },
    async stop(run) {
      return jsonOf<StudioRun>((await studio.stopRun({ run })).run);
    },
  };
}

function changes({ ask, studio }: Clients): Pick<StudioSource, 'fork' | 'change' | 'deleteBranch' | 'note'> {
  return {
    async fork({ namespace, ...point }, { name, reason, edits }) {
      const input = { ref: refOf(point), ...given({ name, reason, edits }) };
      const made = await ask<{ name: string; head: number }>('look.fork', namespace, input);
      return { branch: made.name, head: made.head };
    },
    async change({ namespace, ...point }, change, options) {
      const ref = change === 'redo' ? refText({ session: point.session, branch: point.branch }) : refOf(point);
      await ask(verbOfChange[change], namespace, { ...options, ref });
    },
    async deleteBranch({ namespace, session, branch }, reason) {
      const input = { session, branch, confirm: branch, ...given({ reason: reason === '' ? undefined : reason }) };
      await ask('session.deleteBranch', namespace, input);
    },
    async note({ namespace, session, branch, seq }, text) {
      const { events } = await studio.readEvents({ namespace, session, branch, seqs: [BigInt(seq)] });
      const cause = events[0] === undefined ? undefined : jsonOf<{ id: string }>(events[0].json).id;
      const event: JsonObject = { type: 'note.added', data: { text }, ...given({ cause }) };
      await ask('branch.append', namespace, { ref: refText({ session, branch }), events: [event] });
    },
  };
}

const verbOfChange: Readonly<Record<BranchChange, string>> = {
  rewind: 'branch.rewind',
  revert: 'branch.revert',
  redo: 'branch.redo',
  erase: 'session.erase',
};

/** Sessions of one name that are tried before giving up. */
const namesMax = 50;

function beginnings({ ask }: Clients, transport: Transport): Pick<StudioSource, 'createSession' | 'importFile'> {
  return {
    async createSession(namespace, id) {
      for (let number = 1; ; number++) {
        const session = number === 1 ? id : `${id}-${number}`;
        try {
          return (await ask<{ session: string }>('reprise.createSession', namespace, { session })).session;
        } catch (error) {
          if (number === namesMax || !hasCode(errorOf(error), 'session.exists')) throw error;
        }
      }
    },
    async importFile(namespace, file) {
      const { importFile } = await import('./import-file.ts');
      return await importFile(transport, namespace, file);
    },
  };
}
