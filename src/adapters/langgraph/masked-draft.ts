import { parseJson } from '../../core/canonical-json.ts';
import type { EventDraft } from '../../core/event/event.ts';
import { isArray, isObject, type JsonObject, type JsonValue } from '../../core/json.ts';
import type { Masker } from '../../core/masking/masking.ts';
import { channelFields, type TypedBytes, typedBytes, typedJson } from './typed-value.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const encoder = new TextEncoder();

/**
 * Masks the values in an event of a saver: those of channels, of writes, and of the metadata. The ids and versions that
 * LangGraph finds them by stay as they are. Bytes that are not text stay as they are too.
 */
export function maskedDraft(draft: EventDraft, mask: Masker): EventDraft {
  const { type, data } = draft;
  const held = (data ?? {}) as JsonObject;
  const rules = new Set<string>();
  const masked = (name: string, value: JsonValue | undefined): TypedBytes =>
    maskedValue(name, typedBytes(value), { mask, rules });
  switch (type) {
    case 'channel.saved': {
      const { namespace = '', channel = '' } = held;
      const fields = channelFields(masked(String(channel), held));
      return withRules({ ...draft, data: { namespace, channel, ...fields } }, rules);
    }
    case 'graph.saved':
      return withRules(
        { ...draft, data: { ...held, metadata: typedJson(masked('metadata', held['metadata'])) } },
        rules,
      );
    case 'graph.wrote': {
      const { writes } = held;
      const items = (isArray(writes) ? writes : []).filter(isObject).map((write) => {
        const { index = 0, channel = '' } = write;
        return { index, channel, ...typedJson(masked(String(channel), write)) };
      });
      return withRules({ ...draft, data: { ...held, writes: items } }, rules);
    }
    default:
      return draft;
  }
}

interface Masking {
  readonly mask: Masker;
  /** Collects the names of the rules that found something. */
  readonly rules: Set<string>;
}

/** Masks a value as the value of a field of that name. */
function maskedValue(name: string, [type, bytes]: TypedBytes, { mask, rules }: Masking): TypedBytes {
  const text = textOf(bytes);
  if (text === undefined) return [type, bytes];
  const value = type === 'json' ? jsonOf(text) : text;
  const saved = { [name]: value };
  const { data } = mask({ type: 'channel.saved', data: { saved } });
  const fired = data?.['masked'];
  if (!Array.isArray(fired)) return [type, bytes];
  for (const rule of fired) rules.add(String(rule));
  const [result] = Object.values(data?.['saved'] as JsonObject);
  return [type, encoder.encode(type === 'json' && value !== text ? JSON.stringify(result) : String(result))];
}

/** Returns the value of JSON text; other text stays text. */
function jsonOf(text: string): JsonValue {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}

function textOf(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

function withRules(draft: EventDraft, rules: ReadonlySet<string>): EventDraft {
  return rules.size === 0 ? draft : { ...draft, data: { ...draft.data, masked: [...rules].sort() } };
}
