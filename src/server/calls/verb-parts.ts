import type { HandlerContext } from '@connectrpc/connect';
import type { Sha256 } from '../../core/parts/digest.ts';
import type { Reprise } from '../../engine/reprise.ts';

/** The parts of a server that the calls with their own messages need. */
export interface VerbParts {
  /** Returns the engine of the caller, on the namespace that the call names. */
  readonly repriseOf: (context: HandlerContext, namespace: string) => Reprise;
  readonly sha256: Sha256;
  /** Aborts when the server drains. */
  readonly draining: AbortSignal;
}
