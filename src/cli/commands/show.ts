import { Option } from 'commander';
import { isObject, type JsonObject, type JsonValue } from '../../core/json.ts';
import { textOf, toolCallsIn, toolResultsIn } from '../../core/message.ts';
import { refText } from '../../core/ref.ts';
import type { Session } from '../../engine/session.ts';
import { type Conversation, conversation, type ConversationMessage } from '../../projections/conversation.ts';
import { type Summary, summary } from '../../projections/summary.ts';
import type { Event } from '../../core/event.ts';
import type { CommandSpec } from '../command.ts';
import type { Context } from '../context.ts';
import { done } from '../exit-code.ts';
import type { Output } from '../output.ts';
import { bytesText, costText, countText } from '../render/amount.ts';
import { detailOf, short } from '../render/event-detail.ts';
import { headerLines } from '../render/history-header.ts';
import { fold, plain } from '../render/text.ts';

/** What is known at a point. */
interface Known {
  readonly event: Event | undefined;
  readonly seen: Conversation;
  readonly before: Conversation;
  readonly held: Summary;
}

/** `reprise show`. */
export const show: CommandSpec = {
  arguments: [{ name: '<ref>', about: 'the point: session[/branch]@at' }],
  options: [new Option('--full', 'everything, nothing folded')],
  examples: ['reprise show latest@14', 'reprise show demo/careful@before:20 --full'],
  run: async (context, [text = 'latest'], options) => {
    const { session, ref, point } = await context.at(text);
    const known = await look(session, point);
    const { out } = context;
    if (out.json !== undefined) {
      const { messages, openCalls, model, system, tools } = known.seen;
      await out.value({ ref: refText(ref), event: known.event ?? null, messages, model, system, tools, calls: openCalls, usage: known.held.spending, metadata: await session.metadata(point) });
      return done;
    }
    await print(context, session, point, known, options['full'] === true);
    return done;
  },
};

async function look(session: Session, point: string): Promise<Known> {
  const place = await session.locate(point);
  const branch = decodeURIComponent(point.split('@')[0] ?? 'main');
  let event: Event | undefined;
  if (place.seq > 0) for await (const found of session.replay({ at: point, history: 'raw', after: place.seq - 1 })) event = found;
  const turnBefore = Math.max(0, (event?.turn ?? 0) - 1);
  return {
    event,
    seen: await session.stateAt(point, conversation),
    before: await session.stateAt(`${encodeURIComponent(branch)}@turn:${turnBefore}`, conversation),
    held: await session.stateAt(point, summary),
  };
}

async function print({ out }: Context, session: Session, point: string, known: Known, isFull: boolean): Promise<void> {
  const { event, seen, held } = known;
  await out.lines(await headerLines(out, session, point));
  if (event !== undefined) await out.line(`${out.bold(`@${event.seq} ${event.type}`)}  ${detailOf(event)}`);
  await section(out, 'The messages the model would see', messageLines(out, seen.messages, known.before.messages.length, isFull));
  const settings = [seen.model === null ? '' : `model ${plain(seen.model)}`, seen.tools === null ? '' : `${seen.tools.length} tools: ${toolNames(seen.tools)}`].filter((part) => part !== '');
  await section(out, 'Settings', settings);
  await section(out, 'Open calls', seen.openCalls.map((call) => `@${call.seq}  ${call.kind} ${plain(call.name)}  (${plain(call.call)})`));
  const { inputTokens, outputTokens, cost, unpricedCalls } = held.spending;
  await section(out, 'So far', [`${countText(inputTokens)} tokens in, ${countText(outputTokens)} out, ${costText(cost)}${unpricedCalls > 0 ? ` (${unpricedCalls} calls without a known price)` : ''}`]);
  const ref = `${session.id}${point.startsWith('main') ? '' : `/${point.split('@')[0]}`}`;
  const seq = event?.seq ?? 0;
  out.next(`reprise fork ${ref}@${seq} --prompt "…"`, ...(seq > 0 ? [`reprise fork ${ref}@before:${seq} --system "…"`] : []));
}

async function section(out: Output, title: string, lines: readonly string[]): Promise<void> {
  if (lines.length === 0) return;
  await out.lines(['', out.bold(title), ...lines.map((line) => `  ${line}`)]);
}

const foldedLines = 6;

function messageLines(out: Output, messages: readonly ConversationMessage[], before: number, isFull: boolean): string[] {
  return messages.flatMap((held, index) => {
    const isNew = index >= before;
    const mark = isNew ? out.style('green', '+') : ' ';
    if (held.message === undefined) return [`${mark} @${held.seq}  ${out.dim('erased')}`];
    const whole = contentText(held.message);
    const lines = fold(whole, Math.max(20, out.columns - 16));
    const shown = isFull || lines.length <= foldedLines ? lines : [...lines.slice(0, foldedLines), out.dim(`… ${lines.length - foldedLines} more lines, ${bytesText(whole.length)} (--full shows all)`)];
    const head = `${mark} ${`@${held.seq}`.padEnd(6)} ${roleText(out, String(held.message['role']))} `;
    return shown.map((line, at) => (at === 0 ? head : ' '.repeat(19)) + line);
  });
}

function roleText(out: Output, role: string): string {
  const styles = { user: 'yellow', assistant: 'cyan', tool: 'blue', system: 'magenta' } as const;
  return out.style(styles[role as keyof typeof styles] ?? 'dim', role.padEnd(9));
}

function contentText(message: JsonObject): string {
  const calls = toolCallsIn(message).map((call) => `→ ${call.toolName}(${JSON.stringify(call.input)})`);
  const results = toolResultsIn(message).map((result) => `${result.toolName}: ${JSON.stringify(result.output)}`);
  const said = [textOf(message), ...calls, ...results].filter((part) => part !== '').join('\n');
  return said === '' ? short(message['content']) : said;
}

function toolNames(tools: readonly JsonValue[]): string {
  return tools.slice(0, 8).map((tool) => (isObject(tool) ? plain(String(tool['name'] ?? '?')) : '?')).join(', ') + (tools.length > 8 ? ', …' : '');
}
