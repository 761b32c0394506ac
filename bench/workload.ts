/** Seeded events of about the size that agents write, so that every run measures the same work. */
import { canonicalJson } from '../src/core/canonical-json.ts';
import type { EventDraft, JsonObject } from '../src/index.ts';

/** A source of numbers from 0 up to 1, the same ones for the same seed. */
export function randomSource(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 4_294_967_296;
  };
}

const syllables = 'ka to ri men sol ver un ta pre dict log ser mo del in ex port al on er'.split(' ');

/** Makes strings of words in which some are common and most are rare. */
export function textSource(random: () => number): (length: number) => string {
  const pick = (): string => syllables[Math.floor(random() * syllables.length)] as string;
  const words = Array.from({ length: 6_000 }, () =>
    Array.from({ length: 1 + Math.floor(random() * 4) }, () => pick()).join(''),
  );
  return (length) => {
    let text = '';
    while (text.length < length)
      text += (words[Math.floor(random() ** 3 * words.length)] as string) + (random() < 0.08 ? '.\n' : ' ');
    return text.slice(0, length);
  };
}

/** Payloads of a tool's answer, each of about `length` bytes. */
export function payloads(count: number, length: number, seed = 42): JsonObject[] {
  const random = randomSource(seed);
  const text = textSource(random);
  return Array.from({ length: count }, () => {
    const payload = {
      callId: `call_${Math.floor(random() * 1e9).toString(36)}`,
      tool: 'search_docs',
      args: {
        query: text(40),
        limit: 10,
        filters: { lang: 'en', after: 1_760_000_000 + Math.floor(random() * 1e7) },
      },
      usage: { input: Math.floor(random() * 9_000), output: Math.floor(random() * 900), cost: random() },
      ok: true,
      result: '',
    };
    const left = length - JSON.stringify(payload).length;
    return { ...payload, result: text(Math.max(10, left)) };
  });
}

/** A type that no catalogue knows: the plain path, without parts and without keys. */
export const plainType = 'tool.answered';

/** Drafts over payloads, as many as are asked for, beginning with the one at `from`. */
export function drafts(data: readonly JsonObject[], count: number, from = 0): EventDraft[] {
  return Array.from({ length: count }, (_, index) => ({
    type: plainType,
    data: data[(from + index) % data.length] as JsonObject,
  }));
}

/** The canonical JSON of payloads: what a raw insert is given. */
export const textsOf = (data: readonly JsonObject[]): string[] => data.map((payload) => canonicalJson(payload));
