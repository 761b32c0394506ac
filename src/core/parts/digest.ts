import type { Digest, Seq } from '../point.ts';

/** The fields that an event's digest covers, along with the digest before it. */
export interface ChainLink {
  readonly seq: Seq;
  readonly id: string;
  readonly type: string;
  readonly version: number;
  readonly time: string;
  readonly agent: string | null;
  readonly run: string | null;
  readonly turn: number;
  readonly cause: string | null;
  readonly dataDigest: Digest;
}

/** Computes a SHA-256; see `Platform.sha256`. */
export type Sha256 = (text: string) => Digest;

/** Returns the digest that every chain of a session starts from. */
export function genesisDigest(sha256: Sha256, seed: string): Digest {
  return sha256(`reprise:1:${seed}`);
}

/** Returns the digest of one payload. It is salted, so that no one can guess the payload after an erasure. */
export function dataDigestOf(sha256: Sha256, salt: string, skeleton: string): Digest {
  return sha256(salt + skeleton);
}

/** Returns the digest of an event and all before it. Names of sessions, branches and namespaces are not part of it. */
export function chainDigest(sha256: Sha256, previous: Digest, link: ChainLink): Digest {
  const { seq, id, type, version, time, agent, run, turn, cause, dataDigest } = link;
  return sha256(JSON.stringify([previous, seq, id, type, version, time, agent, run, turn, cause, dataDigest]));
}
