import type { ForeignFormat } from '../../core/recording/foreign-format.ts';
import { claudeCode } from './claude-code.ts';
import { shipit } from './shipit.ts';

/** The formats that every import knows, in the order in which they are tried. */
export const foreignFormats: readonly ForeignFormat[] = [claudeCode, shipit];
