import { limits } from '../limits.ts';
import { type EventGroup, type EventSpec, type FieldSpec, field } from './event-spec.ts';
import { graphTypes } from './families/graph.ts';
import { knowledgeTypes } from './families/knowledge.ts';
import { runTypes } from './families/runs.ts';
import { structuralTypes } from './families/structural.ts';
import { talkTypes } from './families/talk.ts';
import { workTypes } from './families/work.ts';

/**
 * The types Reprise writes itself, with everything it knows of each. It reads any type: unknown ones are kept, shown and
 * filtered like these.
 *
 * @example
 * ```ts
 * console.log(eventTypes['call.ended'].about, Object.keys(eventTypes['call.ended'].fields));
 * ```
 */
export const eventTypes: Readonly<Record<string, EventSpec>> = {
  ...runTypes,
  ...talkTypes,
  ...knowledgeTypes,
  ...workTypes,
  ...graphTypes,
  ...structuralTypes,
};

const foreign = (
  type: FieldSpec['type'],
  about: string,
  more: Partial<Pick<FieldSpec, 'storage' | 'partBytesMin'>> = {},
): FieldSpec => field(type, about, { ...more, role: 'noise' });

const keptPart = { storage: 'part', partBytesMin: limits.keptTextPartBytesMin } as const;

/**
 * The fields that an event of every type has if it was read from a foreign source, unknown types included. They are
 * noise: two systems that behaved the same are the same.
 *
 * @example
 * ```ts
 * console.log(foreignFields['foreign.type'].about);
 * ```
 */
export const foreignFields: Readonly<Record<string, FieldSpec>> = {
  'foreign.type': foreign('string', 'The type that its format gives the unit.'),
  'foreign.file': foreign('string', 'The file of the source that has it; left out for the main one.'),
  'foreign.base': foreign('string', 'The different source that has it, if the source continues from that one.'),
  'foreign.at': foreign('number', 'The place of the unit in its file, from 0.'),
  'foreign.text': foreign('any', 'The text of the unit, with holes where its events have a long string.', keptPart),
  'foreign.bytes': foreign('string', 'The bytes of the unit as base64, if they are not text.', keptPart),
  'foreign.end': foreign('string', 'The end of the line, if it is not a line feed.'),
};

/** Returns the catalogue's entry of a type, or undefined for a type that Reprise does not write itself. */
export function specOf(type: string): EventSpec | undefined {
  return Object.hasOwn(eventTypes, type) ? eventTypes[type] : undefined;
}

/** Returns the type of event that completes events of a type, or undefined if none does. */
export function completionOf(type: string): string | undefined {
  return completions.get(type);
}

const completions: ReadonlyMap<string, string> = new Map(
  Object.entries(eventTypes).flatMap(([type, { completes }]) => (completes === undefined ? [] : [[completes, type]])),
);

/** Returns whether a type belongs to a group. */
export function isInGroup(type: string, group: EventGroup): boolean {
  return specOf(type)?.group === group;
}
