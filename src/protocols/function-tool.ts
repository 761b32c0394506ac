import { given, isObject, type JsonObject, type JsonValue, objectAt, stringAt } from '../core/json.ts';
import { asText } from './json-text.ts';
import type { ProtocolTool } from './protocol.ts';
import type { ProviderFields } from './provider-fields.ts';

/** The fields of a function that every protocol has. */
interface DeclaredFunction {
  readonly name: JsonValue | undefined;
  readonly description: JsonValue | undefined;
  readonly inputSchema: JsonValue | undefined;
}

/** Returns a function in the neutral form, with the fields that only its protocol has. */
export function functionTool(
  fields: ProviderFields,
  { name, description, inputSchema }: DeclaredFunction,
  rest: Readonly<Record<string, JsonValue | undefined>>,
): ProtocolTool & JsonObject {
  const told = typeof description === 'string' ? { description } : {};
  return fields.add({ type: 'function', name: asText(name), ...told, ...given({ inputSchema }) }, rest);
}

/** Returns a tool that is not a function, kept as it is. */
export function otherTool(fields: ProviderFields, tool: JsonValue): ProtocolTool & JsonObject {
  const name = stringAt(tool, 'name') ?? stringAt(tool, 'type') ?? (isObject(tool) ? Object.keys(tool)[0] : undefined);
  return fields.add({ type: 'provider', name: name ?? '' }, { tool });
}

/** A tool as it is written: as it was kept, or a function to write. */
interface WrittenTool {
  readonly original?: JsonObject;
  readonly name: string;
  readonly description: string | undefined;
  readonly inputSchema: JsonValue | undefined;
  /** The fields that only the protocol has. */
  readonly own: JsonObject;
}

/** Reads a tool of the neutral form, even under the names that other frameworks give the fields of theirs. */
export function toolOriginal(fields: ProviderFields, tool: JsonValue): WrittenTool {
  const own = isObject(tool) ? fields.of(tool) : {};
  const held = objectAt(tool, 'function') ?? tool;
  const schema = ['inputSchema', 'parameters', 'input_schema'].map((key) => (isObject(held) ? held[key] : undefined));
  return {
    ...given({ original: objectAt(own, 'tool') }),
    name: stringAt(held, 'name') ?? '',
    description: stringAt(held, 'description'),
    inputSchema: schema.find((each) => each !== undefined),
    own,
  };
}
