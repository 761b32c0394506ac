import { RepriseError } from '../../core/error.ts';
import { bytesOfHex, type HashBytes, MerkleFrontier } from '../../core/parts/merkle.ts';
import { beginning, type Digest, type Point, type Seq } from '../../core/point.ts';
import type { Platform } from '../../core/store/event-store.ts';

/** A branch whose root is wanted. */
export interface RootedBranch {
  readonly branch: string;
  readonly parent: Point | undefined;
}

/** Computes the Merkle root of every branch while their events are read once, parents before children. */
export class BranchRoots {
  readonly #hash: HashBytes;
  readonly #forks: ReadonlySet<string>;
  readonly #starts = new Map<string, MerkleFrontier>();
  readonly #roots = new Map<string, string>();
  #branch = '';
  #frontier: MerkleFrontier;

  constructor(platform: Platform, branches: readonly RootedBranch[]) {
    this.#hash = hashBytesOf(platform);
    this.#frontier = new MerkleFrontier(this.#hash);
    this.#forks = new Set(branches.flatMap(({ parent }) => (parent === undefined ? [] : [nameOf(parent)])));
  }

  /** Continues with the events of a branch. */
  enter({ branch, parent }: RootedBranch): void {
    this.#branch = branch;
    const isAtStart = parent === undefined || parent.seq === beginning;
    this.#frontier = new MerkleFrontier(this.#hash, isAtStart ? undefined : this.#starts.get(nameOf(parent)));
    this.#roots.set(branch, this.#frontier.root());
  }

  /** Adds the next event of the branch. */
  add(seq: Seq, digest: Digest): void {
    this.#frontier.add(bytesOfHex(digest));
    const name = nameOf({ branch: this.#branch, seq });
    if (this.#forks.has(name)) this.#starts.set(name, new MerkleFrontier(this.#hash, this.#frontier));
  }

  /** Ends the branch and keeps its root. */
  leave(): void {
    this.#roots.set(this.#branch, this.#frontier.root());
  }

  /** Returns the root of a branch. */
  root(branch: string): string {
    return this.#roots.get(branch) ?? '';
  }
}

const nameOf = ({ branch, seq }: Point): string => `${branch}@${seq}`;

/** Returns the hash of bytes of a platform, or throws if it has none. */
export function hashBytesOf({ sha256Bytes }: Platform): HashBytes {
  if (sha256Bytes !== undefined) return sha256Bytes;
  throw new RepriseError('option.invalid', 'Cannot compute a Merkle root: the platform has no "sha256Bytes"', {
    hint: 'Take it from createNodePlatform().',
  });
}

/** Returns the leaf that a branch is in the tree of its session. */
export function branchLeaf({ head, root }: { readonly head: number; readonly root: string }): Uint8Array {
  return new TextEncoder().encode(`${head}:${root}`);
}
