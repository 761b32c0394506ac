import { durationText } from '../../../src/wording/amount.ts';
import { type Look, lookOfOutcome } from './glyphs.ts';

/** A run that is silent for so long does not look as if it ran. */
const quietMs = 60_000;
const dayMs = 86_400_000;

/** Returns how the outcome of a history looks now. A run without an end is running, then silent, and after a day only without an end. */
export function lookOfRun(
  { outcome, silentSince }: { readonly outcome: string | null; readonly silentSince: string | null },
  now: number,
): Look {
  const look = lookOfOutcome(outcome);
  const silent = outcome === 'silent' && silentSince !== null ? now - Date.parse(silentSince) : 0;
  if (silent < quietMs) return look;
  if (silent > dayMs) return { glyph: '–', hue: 'dim', word: 'no end recorded' };
  return { ...look, word: `silent for ${durationText(silent)}` };
}
