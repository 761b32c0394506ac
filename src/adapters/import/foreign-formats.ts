import type { ForeignFormat } from '../../core/recording/foreign-format.ts';
import { claudeCode } from './claude-code.ts';
import { codex } from './codex.ts';
import { messages } from './messages.ts';
import { shipit } from './shipit.ts';

/** The formats that every import knows, in the order in which they are tried: the most particular ones first. */
export const foreignFormats: readonly ForeignFormat[] = [claudeCode, codex, shipit, messages];
