import type { JsonObject, JsonValue } from '../core/json.ts';
import type { BranchNode } from '../core/session/session-log.ts';
import type { SessionRecord } from '../core/store/event-store.ts';
import type { Session } from '../engine/session.ts';
import { type Summary, summary } from '../projections/summary.ts';

/** One branch of one session, as `list` shows it. */
export interface BranchRow {
  readonly record: SessionRecord;
  readonly session: Session;
  readonly node: BranchNode;
  /** Its ancestors' lines and its own branching off, to be drawn before its name: `│  └─ `. */
  readonly lead: string;
  readonly summary: Summary;
}

/** A branch in a tree that is drawn. */
export interface DrawnBranch {
  readonly node: BranchNode;
  readonly lead: string;
}

/** A tree, line by line, each branch below its parent. */
export function drawnBranches(root: BranchNode): DrawnBranch[] {
  const drawn: DrawnBranch[] = [];
  // By hand, since ten thousand forks of forks are more than a stack holds.
  const open: { readonly node: BranchNode; readonly lead: string; readonly below: string }[] = [
    { node: root, lead: '', below: '' },
  ];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node, lead, below } = next;
    drawn.push({ node, lead });
    const last = node.children.length - 1;
    for (let index = last; index >= 0; index--) {
      const child = node.children[index] as BranchNode;
      const isLast = index === last;
      open.push({
        node: child,
        lead: `${below}${isLast ? '└─ ' : '├─ '}`,
        below: `${below}${isLast ? '   ' : '│  '}`,
      });
    }
  }
  return drawn;
}

/** The branches of a session, each below its parent. */
export async function branchRows(record: SessionRecord, session: Session): Promise<BranchRow[]> {
  const rows: BranchRow[] = [];
  for (const { node, lead } of drawnBranches(await session.tree()))
    rows.push({ record, session, node, lead, summary: await session.stateAt({ branch: node.branch }, summary) });
  return rows;
}

/** A line of `list --json`, but for the fingerprint, which has to be folded. */
export function branchShape({ session, node, summary: held }: BranchRow): JsonObject {
  return {
    session: session.id,
    branch: node.branch,
    parent: node.parent as unknown as JsonValue,
    title: held.title,
    events: held.events,
    head: node.head,
    bytes: node.bytes,
    startedAt: held.startedAt,
    endedAt: held.endedAt,
    durationMs: held.durationMs,
    outcome: held.outcome,
    agents: held.agents,
    git: held.git,
    usage: held.spending as unknown as JsonValue,
  };
}
