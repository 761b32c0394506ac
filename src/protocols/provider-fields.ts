import { RepriseError } from '../core/error.ts';
import { type JsonObject, type JsonValue, objectAt, stringAt } from '../core/json.ts';
import type { MessagePart, Role } from '../core/message/message.ts';

/** A piece of a message that the neutral form has no word for: it is kept as the provider has it. */
export interface ProviderPart {
  readonly type: 'provider-part';
  /** The provider's word for it. */
  readonly name: string;
  /** The piece itself and its protocol, if the caller wrote it. A piece that a model wrote has ids and is in the provider's fields. */
  readonly part?: JsonObject;
  readonly by?: string;
}

/**
 * The fields that a protocol keeps on messages and parts in addition to the neutral form: ids, signatures, cache marks.
 * They are in `providerOptions` under the protocol's own name, and do not count when messages are compared.
 */
export interface ProviderFields {
  /** Returns a copy with these fields; those that are undefined are left out. */
  add<T extends object>(target: T, fields: Readonly<Record<string, JsonValue | undefined>>): T;
  /** Returns the fields that were kept. */
  of(target: object): JsonObject;
  /** Returns a part that is kept as it is. */
  kept(part: JsonObject, role: Role): MessagePart;
  /**
   * Returns the part as it was kept, null if a different provider's model wrote it, and undefined for other parts.
   * Refuses what the caller wrote for a different protocol.
   */
  original(part: MessagePart): JsonObject | null | undefined;
}

/** Returns the fields of one protocol. */
export function providerFields(namespace: string): ProviderFields {
  const of = (target: object): JsonObject =>
    objectAt((target as { readonly providerOptions?: JsonValue }).providerOptions, namespace) ?? {};
  return {
    of,
    add(target, fields) {
      const kept = { ...of(target), ...definedOf(fields) };
      return Object.keys(kept).length === 0 ? target : { ...target, providerOptions: { [namespace]: kept } };
    },
    kept(part, role) {
      const name = stringAt(part, 'type') ?? Object.keys(part)[0] ?? '';
      const own = role === 'assistant' ? { providerOptions: { [namespace]: { part } } } : { by: namespace, part };
      // The neutral form lets parts of other kinds through; its type names only those that everyone knows.
      return { type: 'provider-part', name, ...own } as unknown as MessagePart;
    },
    original(part) {
      const held = asProviderPart(part);
      if (held === undefined) return undefined;
      if (held.part === undefined) return objectAt(of(held), 'part') ?? null;
      return held.by === namespace ? held.part : refuseForeign(held, namespace);
    },
  };
}

function definedOf(fields: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as JsonObject;
}

function asProviderPart(part: MessagePart | ProviderPart): ProviderPart | undefined {
  return part.type === 'provider-part' ? part : undefined;
}

/** Refuses to leave out quietly what a user sent: the model would answer a different question. */
function refuseForeign({ name }: ProviderPart, namespace: string): never {
  throw new RepriseError('message.unsupported', `Cannot write a "${name}" part: "${namespace}" has no form for it`, {
    hint: 'Replace the message with a fork whose edit says the same in text, or continue with the provider it was sent to.',
    details: { name, namespace },
  });
}
