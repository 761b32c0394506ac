import type { ForeignFormat } from '../../core/recording/foreign-format.ts';
import { atif } from './atif.ts';
import { bernstein } from './bernstein.ts';
import { har, vcr } from './cassettes.ts';
import { claudeCode } from './claude-code.ts';
import { codex } from './codex.ts';
import { copilotCli } from './copilot-cli.ts';
import { geminiCli } from './gemini-cli.ts';
import { langfuse } from './langfuse.ts';
import { langsmith } from './langsmith.ts';
import { messages } from './messages.ts';
import { openaiTraces } from './openai-traces.ts';
import { openhands } from './openhands.ts';
import { orcaTrace } from './orca-trace.ts';
import { otlp } from './otlp.ts';
import { pi } from './pi.ts';
import { shipit } from './shipit.ts';
import { sweAgent } from './swe-agent.ts';
import { jsonFormat, jsonlFormat, markdownFormat } from './written-formats.ts';

/** The formats that every import knows, in the order in which they are tried: the most particular ones first. */
export const foreignFormats: readonly ForeignFormat[] = [
  claudeCode,
  codex,
  geminiCli,
  copilotCli,
  pi,
  atif,
  orcaTrace,
  bernstein,
  openaiTraces,
  langsmith,
  langfuse,
  otlp,
  har,
  vcr,
  openhands,
  sweAgent,
  shipit,
  messages,
];

/** The formats that can only be written. */
export const writtenFormats: readonly ForeignFormat[] = [jsonFormat, jsonlFormat, markdownFormat];
