import type { EventGroup, EventSpec } from './event-spec.ts';
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
