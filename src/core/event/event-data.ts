import type { JsonArray, JsonObject, JsonValue } from '../json.ts';

// Made from the catalogue by `npm run docs:pages`; edit src/core/event/families.

/** The data of the events that Reprise writes, by their type. An event may have more fields than its type declares. */
export interface EventData {
  readonly 'run.started': JsonObject & {
    readonly title?: string;
    readonly program?: JsonObject;
    readonly versions?: JsonObject;
    readonly git?: JsonObject;
    readonly configDigest?: string;
    readonly resumed?: JsonObject;
    readonly messages?: JsonArray;
  };
  readonly 'run.ended': JsonObject & {
    readonly outcome: string;
    readonly result?: JsonValue;
    readonly error?: JsonObject;
    readonly fingerprint?: string;
  };
  readonly 'turn.started': JsonObject & {
    readonly title?: string;
    readonly because?: JsonArray;
    readonly reused?: string;
  };
  readonly 'turn.ended': JsonObject & {
    readonly outcome?: string;
    readonly error?: JsonObject;
    readonly whole?: boolean;
  };
  readonly 'message.added': JsonObject & {
    readonly message: JsonObject;
  };
  readonly 'settings.changed': JsonObject & {
    readonly model?: string;
    readonly system?: string;
    readonly tools?: JsonArray;
    readonly settings?: JsonObject;
  };
  readonly 'conversation.compacted': JsonObject & {
    readonly messages?: JsonArray;
    readonly kept?: number;
    readonly summary?: string;
    readonly trigger?: string;
    readonly tokensBefore?: number;
  };
  readonly 'call.started': JsonObject & {
    readonly call: string;
    readonly kind: string;
    readonly name: string;
    readonly effect?: string;
    readonly annotations?: JsonObject;
    readonly input?: JsonValue;
    readonly about?: string;
    readonly node?: string;
    readonly saved?: JsonObject;
    readonly request?: JsonObject & {
      readonly system?: string;
      readonly messages?: JsonArray;
      readonly tools?: JsonArray;
      readonly settings?: JsonObject;
      readonly body?: string;
    };
  };
  readonly 'call.ended': JsonObject & {
    readonly call: string;
    readonly kind: string;
    readonly name: string;
    readonly outcome: string;
    readonly output?: JsonValue;
    readonly message?: JsonObject;
    readonly finishReason?: string;
    readonly error?: JsonObject;
    readonly usage?: JsonObject;
    readonly cost?: number;
    readonly latencyMs?: number;
    readonly firstTokenMs?: number;
    readonly attempts?: number;
    readonly failedAttempts?: JsonArray;
    readonly provider?: JsonObject;
    readonly reused?: boolean;
    readonly simulated?: boolean;
    readonly response?: JsonObject & {
      readonly body?: string;
    };
  };
  readonly 'state.committed': JsonObject & {
    readonly operations: JsonArray;
  };
  readonly 'belief.committed': JsonObject & {
    readonly claim: string;
    readonly topic?: string;
    readonly kind?: string;
    readonly value?: JsonValue;
    readonly trust?: number;
    readonly settled?: boolean;
    readonly mutates?: boolean;
    readonly beside?: boolean;
  };
  readonly 'belief.superseded': JsonObject & {
    readonly belief: string;
    readonly by?: string;
    readonly topic?: string;
    readonly reason?: string;
  };
  readonly 'contradiction.detected': JsonObject & {
    readonly beliefs: JsonArray;
    readonly topic?: string;
    readonly score?: number;
  };
  readonly 'contradiction.settled': JsonObject & {
    readonly winner?: string;
    readonly strategy: string;
    readonly topic?: string;
    readonly fallback?: string;
    readonly reason?: string;
  };
  readonly 'strategy.changed': JsonObject & {
    readonly strategy: string;
    readonly reason?: string;
  };
  readonly 'decision.made': JsonObject & {
    readonly decision: string;
    readonly reason?: string;
  };
  readonly 'evidence.added': JsonObject & {
    readonly title?: string;
    readonly content?: JsonValue;
    readonly source?: string;
  };
  readonly 'goal.set': JsonObject & {
    readonly goal: string;
    readonly details?: string;
  };
  readonly 'constraint.set': JsonObject & {
    readonly key: string;
    readonly value?: JsonValue;
    readonly text?: string;
    readonly strength?: string;
  };
  readonly 'risk.quarantined': JsonObject & {
    readonly title: string;
    readonly content?: JsonValue;
    readonly source?: string;
    readonly reason?: string;
    readonly event?: string;
  };
  readonly 'agent.spawned': JsonObject & {
    readonly role?: string;
    readonly scope?: JsonValue;
    readonly model?: string;
    readonly trust?: number;
    readonly trustOn?: JsonObject;
    readonly fromTurn?: number;
  };
  readonly 'agent.changed': JsonObject & {
    readonly role?: string;
    readonly scope?: JsonValue;
    readonly model?: string;
    readonly trust?: number;
    readonly trustOn?: JsonObject;
  };
  readonly 'agent.ended': JsonObject & {
    readonly outcome?: string;
    readonly reason?: string;
  };
  readonly 'task.started': JsonObject & {
    readonly task: string;
    readonly title?: string;
    readonly prompt?: string;
    readonly role?: string;
  };
  readonly 'task.claimed': JsonObject & {
    readonly task: string;
    readonly model?: string;
  };
  readonly 'task.ended': JsonObject & {
    readonly task: string;
    readonly outcome: string;
    readonly result?: JsonValue;
    readonly error?: JsonObject;
    readonly cost?: number;
  };
  readonly 'verification.failed': JsonObject & {
    readonly task?: string;
    readonly signals: JsonArray;
  };
  readonly 'tests.ran': JsonObject & {
    readonly command: string;
    readonly exitCode: number;
    readonly framework?: string;
    readonly failures?: JsonArray;
    readonly passed?: JsonArray;
    readonly skipped?: JsonArray;
    readonly selection?: JsonValue;
    readonly finished?: boolean;
    readonly call?: string;
  };
  readonly 'file.patched': JsonObject & {
    readonly path: string;
    readonly patch?: string;
    readonly summary?: string;
    readonly before?: JsonValue;
    readonly after?: JsonValue;
  };
  readonly 'request.prepared': JsonObject & {
    readonly request: JsonObject;
  };
  readonly 'procedure.added': JsonObject & {
    readonly title?: string;
    readonly text: string;
  };
  readonly 'note.added': JsonObject & {
    readonly text: string;
  };
  readonly 'session.imported': JsonObject & {
    readonly format: string;
    readonly events?: number;
    readonly head?: string;
    readonly tail?: string;
    readonly between?: JsonValue;
    readonly source?: string;
    readonly file?: string;
    readonly stretches?: JsonArray;
  };
  readonly 'source.kept': JsonObject & {
    readonly reason?: string;
  };
  readonly 'metadata.changed': JsonObject & {
    readonly set: JsonObject;
  };
  readonly 'channel.saved': JsonObject & {
    readonly namespace: string;
    readonly channel: string;
    readonly type: string;
    readonly items?: JsonArray;
    readonly text?: string;
    readonly body?: string;
    readonly bytes?: string;
  };
  readonly 'graph.saved': JsonObject & {
    readonly namespace: string;
    readonly saved: string;
    readonly parent?: string;
    readonly source?: string;
    readonly changed: JsonArray;
    readonly values: JsonObject;
    readonly state: JsonObject;
    readonly metadata: JsonObject;
  };
  readonly 'graph.wrote': JsonObject & {
    readonly namespace: string;
    readonly saved: string;
    readonly task: string;
    readonly writes: JsonArray;
  };
  readonly 'branch.forked': JsonObject & {
    readonly parent: JsonObject;
    readonly turn?: number;
    readonly reason?: string;
    readonly metadata?: JsonObject;
  };
  readonly 'branch.rewound': JsonObject & {
    readonly to?: number;
    readonly toTurn?: number;
    readonly dropped?: JsonArray;
    readonly only?: string;
    readonly reason?: string;
    readonly redo?: boolean;
  };
  readonly 'event.replaced': JsonObject & {
    readonly seq: number;
    readonly event: JsonObject;
    readonly reason?: string;
  };
  readonly 'event.inserted': JsonObject & {
    readonly after: number;
    readonly event: JsonObject;
    readonly reason?: string;
  };
  readonly 'event.reverted': JsonObject & {
    readonly target: number;
    readonly seqs: JsonArray;
    readonly reason?: string;
    readonly redo?: boolean;
  };
  readonly 'payload.erased': JsonObject & {
    readonly seqs: JsonArray;
    readonly parts: JsonArray;
    readonly holes?: JsonObject;
    readonly keys?: JsonObject;
    readonly reason?: string;
  };
}
