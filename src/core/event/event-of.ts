import type { Event } from './event.ts';
import type { EventData } from './event-data.ts';

/** The data of types by their names: those of your own events, in addition to those that Reprise writes. */
export type DataByType = Readonly<Record<string, object>>;

/** The data of a type: your own if it is declared there, else that of the catalogue. */
export type DataOf<Type extends string, Own> = Type extends keyof Own
  ? Own[Type]
  : Type extends keyof EventData
    ? EventData[Type]
    : Event['data'];

/** An event of one type, or of one of several: its data is what the type declares, unless its payload was erased. */
export type EventOf<Type extends string, Own = EventData> = Type extends string
  ? Omit<Event, 'type' | 'data' | 'erased'> & { readonly type: Type } & (
        | { readonly erased?: never; readonly data: DataOf<Type, Own> & Event['data'] }
        | { readonly erased: true; readonly data: { readonly erased: true } }
      )
  : never;

/**
 * Returns true if an event has a type. Its data is then what the catalogue says of that type, or `{ erased: true }`. For
 * a type of your own, name its data: `isEvent<{ 'ticket.opened': { id: string } }>(event, 'ticket.opened')`.
 *
 * @example
 * ```ts
 * for await (const event of session.replay())
 *   if (isEvent(event, 'call.ended') && event.erased !== true) console.log(event.data.name, event.data.outcome);
 * ```
 */
export function isEvent<Type extends string>(event: Event, type: Type): event is Event & EventOf<Type>;
export function isEvent<Own extends DataByType, Type extends string & keyof Own = string & keyof Own>(
  event: Event,
  type: Type,
): event is Event & EventOf<Type, Own>;
export function isEvent(event: Event, type: string): boolean {
  return event.type === type;
}
