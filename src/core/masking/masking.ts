import type { EventDraft } from '../event/event.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import { type MaskKey, maskOf } from './mask.ts';
import { MaskWalker } from './mask-walker.ts';
import { MaskedTexts } from './masked-texts.ts';
import type { MaskingOptions } from './masking-options.ts';
import { OwnRules, type RunWithin } from './own-rules.ts';
import { RememberedValues } from './remembered-values.ts';
import { TextSecrets } from './text-secrets.ts';

/**
 * Returns an event with its secrets masked; `data.masked` lists the rules that applied. `report` hears what could not be
 * searched and was masked whole instead.
 */
export type Masker = (event: EventDraft, report?: (error: Error) => void) => EventDraft;

/** The world of a masker. */
export interface MaskerParts {
  readonly key: MaskKey;
  /** Stops a pattern of a user that takes too long; without it, patterns run without a limit. */
  readonly runWithin?: RunWithin | undefined;
}

/**
 * Makes a masker. A mask is `[masked RULE 5e6f7a-1a2b3c4d]`. The same secret gets the same mask within a session, so
 * that lists of messages still continue each other and equal calls stay equal; the mask does not reveal the secret. A
 * value of 8 or more characters that was masked once is masked in everything after it. Ids of protocols are never masked,
 * because calls are found by their ids, and structural fields keep their form.
 */
export function createMasker(options: MaskingOptions, { key, runWithin }: MaskerParts): Masker {
  const own = new OwnRules(options.rules ?? [], runWithin);
  const left = new Set(options.except ?? []);
  const remembered = new RememberedValues();
  const mask = (rule: string, secret: string): string => maskOf(key, rule, secret);
  const texts = new MaskedTexts(new TextSecrets({ own, left, remembered }), remembered, mask);
  const masker: Masker = (event, report = () => undefined) => {
    const { data } = event;
    if (data === undefined) return event;
    const fired = new Set<string>();
    const walker = new MaskWalker({ own, left, remembered, texts, fired, mask });
    const masked = own.within(() => {
      const { version } = remembered;
      const once = walker.data(data as JsonObject);
      // The same secret may appear earlier in the text than the match that revealed it.
      return remembered.version === version ? once : walker.data(once);
    }, report);
    if (fired.size === 0) return event;
    return { ...event, data: { ...masked, masked: namesIn(masked['masked'], fired) } };
  };
  ownMaskers.add(masker);
  return masker;
}

const ownMaskers = new WeakSet<Masker>();

/** Returns true if a masker was made here: it never changes an event, and returns the same one if it masks nothing. */
export function isOwnMasker(masker: Masker): boolean {
  return ownMaskers.has(masker);
}

function namesIn(before: JsonValue | undefined, fired: ReadonlySet<string>): string[] {
  const earlier = Array.isArray(before) ? before.filter((name) => typeof name === 'string') : [];
  return [...new Set([...earlier, ...fired])].sort();
}
