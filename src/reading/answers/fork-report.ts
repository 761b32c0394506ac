import type { Event } from '../../core/event/event.ts';
import { isObject, type JsonValue } from '../../core/json.ts';
import { type Point, previous, type Seq, seq } from '../../core/point.ts';
import { refText } from '../../core/ref.ts';
import type { ForkedBranch } from '../../engine/branch.ts';
import type { Resumable } from '../../engine/resuming/resumable.ts';

/** One edit that a branch was made with, as the log has it. */
type ForkEdit =
  | { readonly kind: 'replaced'; readonly target: number; readonly type: string }
  | { readonly kind: 'inserted'; readonly after: number; readonly type: string }
  | { readonly kind: 'dropped'; readonly seqs: readonly number[] }
  | { readonly kind: 'rewound'; readonly toTurn: number }
  | { readonly kind: 'appended'; readonly type: string };

/** An edit with the event before and after it, for people to read. */
interface ShownEdit {
  readonly edit: ForkEdit;
  readonly before?: Event | undefined;
  readonly after: Pick<Event, 'type' | 'data'>;
}

/** The edits a branch was made with. */
export interface ForkReport {
  readonly edits: readonly ForkEdit[];
  readonly shown: readonly ShownEdit[];
  /** Seqs in the view at the fork point that the edits took out of the view of the branch. */
  readonly dropped: readonly number[];
}

/** A new branch, as `reprise fork --json` prints it. */
export interface ForkAnswer {
  readonly session: string;
  readonly branch: string;
  readonly ref: string;
  readonly head: Seq;
  /** Unanswered calls that the model decided on: a resume makes them first. */
  readonly pending: Resumable['pending'];
  readonly lineage: {
    readonly parent: Point | null;
    readonly reason: string | null;
    readonly agent: string | null;
    readonly edits: readonly ForkEdit[];
    readonly dropped: readonly number[];
    /** Seqs that depend on a dropped event and stayed. */
    readonly dependents: readonly number[];
  };
}

/** Reads the edits a branch was made with from the events it stores. */
export async function forkReport(branch: ForkedBranch): Promise<ForkReport> {
  const shown: ShownEdit[] = [];
  for await (const event of branch.replay({ history: 'raw', after: branch.parent.seq })) {
    const edit = editOf(event);
    if (edit === undefined) continue;
    const before = edit.kind === 'replaced' ? await sourceEvent(branch, seq(edit.target)) : undefined;
    shown.push({ edit, before, after: carriedBy(event) });
  }
  const edits = shown.map(({ edit }) => edit);
  const dropped = edits.flatMap((edit) =>
    edit.kind === 'dropped' ? edit.seqs : edit.kind === 'replaced' ? [edit.target] : [],
  );
  return { edits, shown, dropped: [...new Set(dropped)].sort((a, b) => a - b) };
}

/** Returns the JSON answer for a new branch. */
export function forkAnswer(
  branch: ForkedBranch,
  { edits, dropped }: ForkReport,
  {
    reason = null,
    agent = null,
    pending,
  }: { readonly reason?: string | null; readonly agent?: string | null; readonly pending: Resumable['pending'] },
): ForkAnswer {
  const { name, head, parent, dependents, sessionId: session } = branch;
  const lineage = { parent, reason, agent, edits, dropped, dependents };
  return { session, branch: name, ref: refText({ session, branch: name }), head, pending, lineage };
}

function editOf(event: Event): ForkEdit | undefined {
  const { type, data } = event;
  switch (type) {
    case 'branch.forked':
      return undefined;
    case 'event.replaced':
      return { kind: 'replaced', target: Number(data['seq']), type: carriedBy(event).type };
    case 'event.inserted':
      return { kind: 'inserted', after: Number(data['after']), type: carriedBy(event).type };
    case 'event.reverted':
      return { kind: 'dropped', seqs: numbersIn(data['seqs']) };
    case 'branch.rewound':
      return { kind: 'rewound', toTurn: Number(data['toTurn']) };
    default:
      return { kind: 'appended', type };
  }
}

const numbersIn = (value: JsonValue | undefined): number[] => (Array.isArray(value) ? value.map(Number) : []);

/** Returns the event that a marker carries, or the event itself. */
function carriedBy(event: Event): Pick<Event, 'type' | 'data'> {
  const carried = event.data['event'];
  if ((event.type !== 'event.replaced' && event.type !== 'event.inserted') || !isObject(carried)) return event;
  return { type: String(carried['type']), data: isObject(carried['data']) ? carried['data'] : {} };
}

async function sourceEvent(branch: ForkedBranch, target: Seq): Promise<Event | undefined> {
  for await (const event of branch.at(branch.parent.seq).replay({ after: previous(target), through: target }))
    return event;
  return undefined;
}
