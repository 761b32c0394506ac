import type { Event } from '../core/event/event.ts';
import { isObject, type JsonObject } from '../core/json.ts';
import type { Seq } from '../core/point.ts';
import type { Branch } from '../engine/branch.ts';

/** One edit that a branch was made with, as the log has it. */
export type ForkEdit =
  | { readonly kind: 'replaced'; readonly target: number; readonly type: string }
  | { readonly kind: 'inserted'; readonly after: number; readonly type: string }
  | { readonly kind: 'dropped'; readonly seqs: readonly number[] }
  | { readonly kind: 'rewound'; readonly toTurn: number }
  | { readonly kind: 'appended'; readonly type: string };

/** What a branch was made of, with the events before and after each edit for those who read. */
export interface ForkReport {
  readonly edits: readonly ForkEdit[];
  readonly told: readonly {
    readonly edit: ForkEdit;
    readonly before?: Event | undefined;
    readonly after?: Event | undefined;
  }[];
  /** Seqs of the view at the point that are not in the view of the branch. */
  readonly dropped: readonly number[];
}

/** Reads what a fork's own events say that was changed, and what the changes took out. */
export async function forkReport(branch: Branch): Promise<ForkReport> {
  const told: { edit: ForkEdit; before?: Event | undefined; after?: Event | undefined }[] = [];
  for await (const event of branch.replay({ history: 'raw', after: branch.parent?.seq ?? 0 })) {
    const edit = editOf(event);
    if (edit === undefined) continue;
    const after = carriedBy(event);
    const before = edit.kind === 'replaced' ? await sourceEvent(branch, edit.target) : undefined;
    told.push({ edit, before, after });
  }
  const edits = told.map(({ edit }) => edit);
  const dropped = edits.flatMap((edit) =>
    edit.kind === 'dropped' ? edit.seqs : edit.kind === 'replaced' ? [edit.target] : [],
  );
  return { edits, told, dropped: [...new Set(dropped)].sort((a, b) => a - b) };
}

function editOf({ type, data }: Event): ForkEdit | undefined {
  switch (type) {
    case 'branch.forked':
      return undefined;
    case 'event.replaced':
      return { kind: 'replaced', target: Number(data['seq']), type: String((data['event'] as JsonObject)['type']) };
    case 'event.inserted':
      return { kind: 'inserted', after: Number(data['after']), type: String((data['event'] as JsonObject)['type']) };
    case 'event.reverted':
      return { kind: 'dropped', seqs: data['seqs'] as readonly number[] };
    case 'branch.rewound':
      return { kind: 'rewound', toTurn: Number(data['toTurn']) };
    default:
      return { kind: 'appended', type };
  }
}

/** The event that a marker carries, or the event itself. */
function carriedBy(event: Event): Event {
  const carried = event.data['event'];
  return isObject(carried) && (event.type === 'event.replaced' || event.type === 'event.inserted')
    ? ({ ...event, ...carried } as unknown as Event)
    : event;
}

async function sourceEvent({ session, parent }: Branch, seq: number): Promise<Event | undefined> {
  if (parent === undefined) return undefined;
  const at = { branch: parent.branch, seq: parent.seq as number };
  for await (const event of session.replay({ at, after: (seq - 1) as Seq, through: seq as Seq })) return event;
  return undefined;
}
