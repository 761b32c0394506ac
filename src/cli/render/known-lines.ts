import { pathText, type ValueDiff } from '../../core/comparing/value-diff.ts';
import type { Event } from '../../core/event/event.ts';
import { isObject, type JsonValue } from '../../core/json.ts';
import type { WaitingCall } from '../../core/recording/person-calls.ts';
import type { ConversationMessage, LaneConversation } from '../../core/session/conversation-lane.ts';
import type { AgentKnowledge } from '../../engine/agents/agent-source.ts';
import type { Changes, Known } from '../../engine/known.ts';
import { waitingText } from '../../engine/resuming/person-decisions.ts';
import type { State } from '../../projections/state.ts';
import { bytesText, costText, countText, plural } from '../../wording/amount.ts';
import { detailOf, short } from '../../wording/event-gist.ts';
import { beliefText, scopeText } from '../../wording/fleet-text.ts';
import { messageContent } from '../../wording/message-content.ts';
import { cut, fit, fold, plain } from '../../wording/text.ts';
import type { Output, Style } from '../terminal/output.ts';
import { openWorkLines } from './coding-lines.ts';
import { kindStyle } from './event-table.ts';

const foldedLines = 6;
const firstMessages = 2;
const lastMessages = 10;
const entriesMax = 20;

/** Prints the event at a point: its type and gist, or with `--full` all its data. */
export function eventLines(out: Output, event: Event | undefined, isFull: boolean): string[] {
  if (event === undefined) return [out.bold('@0'), '  before the first event'];
  const style = kindStyle(event);
  const name = `@${event.seq} ${event.type}`;
  const who = [event.agent ?? '', event.run === undefined ? '' : `run ${event.run}`, `turn ${event.turn}`];
  const about = cut(
    plain(who.filter((part) => part !== '').join(', ')),
    Math.max(1, out.tableColumns - name.length - 2),
  );
  const head = `${style === undefined ? out.bold(name) : out.style(style, name)}  ${out.dim(about)}`;
  return [head, ...dataLines(out, event, isFull).map((line) => `  ${line}`)];
}

/** Returns the gist of an event, and the size of its payload if the gist is cut. */
function dataLines(out: Output, event: Event, isFull: boolean): string[] {
  const columns = out.columns - 2;
  if (isFull) return [...fold(JSON.stringify(event.data, null, 2), columns).lines];
  const { lines, bytesLeft } = fold(detailOf(event), columns, foldedLines);
  if (bytesLeft === 0) return [...lines];
  const bytes = bytesText(Buffer.byteLength(JSON.stringify(event.data)));
  return [...lines, out.dim(`… ${bytes} in total (--full shows all)`)];
}

/** Prints everything an agent knew at a point. */
export function knownLines(out: Output, known: Known, isFull: boolean): string[] {
  const { seen, others, state, changes, usage } = known;
  return [
    ...section(out, messagesTitle(known), [
      ...messageLines(out, seen.messages, new Set(changes.added), isFull),
      ...settingLines(out, seen, isFull),
    ]),
    ...section(out, 'State', stateLines(out, state, isFull)),
    ...section(out, 'Beliefs', listLines(out, known.beliefs.map(beliefText), isFull)),
    ...section(
      out,
      'Agents',
      listLines(
        out,
        known.agents.map(({ agent, scope }) => `${agent} sees ${scopeText(scope)}`),
        isFull,
      ),
    ),
    ...section(
      out,
      'Open calls',
      seen.openCalls
        .filter(isNoQuestion)
        .map((call) => cut(plain(`@${call.seq}  ${call.kind} ${call.name}  (${call.call})`), out.tableColumns - 2)),
    ),
    ...section(
      out,
      'Waiting for a person',
      known.waiting.map((call) => out.style('yellow', cut(plain(waitingLine(call)), out.tableColumns - 2))),
    ),
    ...section(
      out,
      'Simulated calls, which were not made',
      known.simulated.map(({ seq, kind, name }) =>
        out.style('yellow', cut(plain(`@${seq}  ${kind} ${name}`), out.columns - 2)),
      ),
    ),
    ...openWorkLines(out, known.coding),
    ...section(out, changesTitle(known), changeLines(out, changes)),
    ...section(out, 'Usage so far', [usageText(usage)]),
    ...section(
      out,
      'Other conversations',
      others.map((lane) => cut(plain(laneText(lane)), out.tableColumns - 2)),
    ),
    '',
  ];
}

/** Returns true if a call is not a question to a person, which has its own section. */
const isNoQuestion = ({ kind }: LaneConversation['openCalls'][number]): boolean => kind !== 'person';

const waitingLine = (waits: WaitingCall): string =>
  `@${waits.seq}  ${waitingText(waits)}${waits.input === null ? '' : `  ${short(waits.input)}`}`;

/** Returns the title of the messages: at a model call the model saw them, elsewhere it would see them. */
function messagesTitle({ event }: Known): string {
  const isAsked = event?.type === 'call.started' && event.data['kind'] === 'model';
  return isAsked ? 'Messages the model saw' : 'Messages the model would see';
}

/** Folds a text to its first lines, and says how much is left. */
function foldedText(
  out: Output,
  text: string,
  columns: number,
  isFull: boolean,
  linesMax: number = foldedLines,
): string[] {
  const { lines, bytesLeft } = fold(text, columns, isFull ? Number.POSITIVE_INFINITY : linesMax);
  return bytesLeft === 0 ? [...lines] : [...lines, out.dim(`… ${bytesText(bytesLeft)} more (--full shows all)`)];
}

function section(out: Output, title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', out.bold(title), ...lines.map((line) => `  ${line}`)];
}

function messageLines(
  out: Output,
  messages: readonly ConversationMessage[],
  added: ReadonlySet<ConversationMessage>,
  isFull: boolean,
): string[] {
  const one = (held: ConversationMessage): string[] => oneMessage(out, held, { isNew: added.has(held), isFull });
  if (isFull || messages.length <= firstMessages + lastMessages + 1) return messages.flatMap(one);
  const hidden = messages.slice(firstMessages, -lastMessages);
  const bytes = hidden.reduce((sum, { message }) => sum + Buffer.byteLength(JSON.stringify(message ?? null)), 0);
  return [
    ...messages.slice(0, firstMessages).flatMap(one),
    out.dim(`  … ${plural(hidden.length, 'message')}, ${bytesText(bytes)} (--full shows all)`),
    ...messages.slice(-lastMessages).flatMap(one),
  ];
}

const narrowColumns = 60;

function oneMessage(
  out: Output,
  held: ConversationMessage,
  { isNew, isFull }: { readonly isNew: boolean; readonly isFull: boolean },
): string[] {
  const mark = isNew ? out.style('green', '+') : ' ';
  const seq = `@${held.seq}`.padEnd(5);
  if (held.message === undefined) return [`${mark} ${seq} ${out.dim('erased')}`];
  const role = String(held.message['role']);
  const indent = out.columns < narrowColumns ? 4 : 18;
  const shown = foldedText(out, messageContent(held.message), Math.max(16, out.columns - indent - 2), isFull);
  const head = `${mark} ${seq} ${out.style(roleStyle(role), fit(plain(role), 9))} `;
  if (out.columns < narrowColumns) return [head.trimEnd(), ...shown.map((line) => ' '.repeat(indent) + line)];
  return shown.map((line, index) => (index === 0 ? head : ' '.repeat(indent)) + line);
}

const roleStyles: ReadonlyMap<string, Style> = new Map<string, Style>([
  ['user', 'yellow'],
  ['assistant', 'cyan'],
  ['tool', 'blue'],
  ['system', 'magenta'],
]);

function roleStyle(role: string): Style {
  return roleStyles.get(role) ?? 'dim';
}

function settingLines(out: Output, seen: LaneConversation, isFull: boolean): string[] {
  const { model, system, tools, settings, messages } = seen;
  const isShown = messages.some(({ message }) => message?.['role'] === 'system');
  const settingTexts = [
    ['model', model ?? ''],
    ['system', system === null || isShown ? '' : system],
    ['tools', tools === null ? '' : `${tools.length}: ${tools.map(toolName).join(', ')}`],
    ['settings', settings === null ? '' : JSON.stringify(settings)],
  ] as const;
  return settingTexts
    .filter(([, text]) => text !== '')
    .flatMap(([name, text]) =>
      foldedText(out, text, Math.max(16, out.columns - 13), isFull, 2).map(
        (line, index) => (index === 0 ? out.dim(name.padEnd(10)) : ' '.repeat(10)) + line,
      ),
    );
}

const toolName = (tool: JsonValue): string => (isObject(tool) ? String(tool['name'] ?? '?') : '?');

function stateLines(out: Output, state: State, isFull: boolean): string[] {
  const entries = Object.entries(state).flatMap(([agent, keys]) =>
    Object.entries(keys).map(([key, entry]) => ({ name: `${agent} ${key}`, ...entry })),
  );
  const shown = isFull ? entries : entries.slice(0, entriesMax);
  const lines = shown.flatMap(({ name, value, version, seq }) => {
    const where = out.dim(`v${version} @${seq}`);
    if (isFull) {
      const whole = foldedText(out, JSON.stringify(value, null, 2), out.columns - 4, isFull);
      return [`${plain(name)}  ${where}`, ...whole.map((line) => `  ${line}`)];
    }
    return [`${cut(plain(`${name} = ${short(value)}`), Math.max(10, out.tableColumns - 16))}  ${where}`];
  });
  const hidden = entries.length - shown.length;
  return hidden === 0 ? lines : [...lines, out.dim(`… ${plural(hidden, 'more key')} (--full shows all)`)];
}

function changesTitle({ event }: Known): string {
  const turn = event?.turn ?? 0;
  return turn === 0 ? 'Changed since the beginning' : `Changed since turn ${turn - 1}`;
}

function changeLines(out: Output, { added, removed, settings, state }: Changes): string[] {
  const messages = [
    added.length === 0 ? '' : out.style('green', `+ ${plural(added.length, 'message')}`),
    removed.length === 0 ? '' : out.style('red', `- ${plural(removed.length, 'message')}`),
  ].filter((part) => part !== '');
  const lines = [
    ...(messages.length === 0 ? [] : [messages.join('  ')]),
    ...differenceLines(out, settings),
    ...differenceLines(out, state),
  ];
  return lines.length === 0 ? [out.dim('nothing changed')] : lines;
}

/** Prints the differences between two values, one per line. */
export function differenceLines(
  out: Output,
  { added, removed, changed }: ValueDiff,
  linesMax: number = entriesMax,
): string[] {
  const line = (sign: string, text: string): string => cut(plain(`${sign} ${text}`), out.tableColumns - 2);
  const lines = [
    ...changed.map(({ path, left, right }) =>
      out.style('yellow', line('~', `${pathText(path)}: ${short(left)} → ${short(right)}`)),
    ),
    ...removed.map(({ path, value }) => out.style('red', line('-', `${pathText(path)}: ${short(value)}`))),
    ...added.map(({ path, value }) => out.style('green', line('+', `${pathText(path)}: ${short(value)}`))),
  ];
  const hidden = lines.length - linesMax;
  return hidden <= 0 ? lines : [...lines.slice(0, linesMax), out.dim(`… ${plural(hidden, 'more difference')}`)];
}

function usageText({ inputTokens, outputTokens, cost, unpricedCalls }: Known['usage']): string {
  const unknown = unpricedCalls > 0 ? `, plus ${plural(unpricedCalls, 'call')} without a known price` : '';
  const price = cost === null ? 'no cost recorded' : costText(cost);
  return `${countText(inputTokens)} tokens in, ${countText(outputTokens)} out, ${price}${unknown}`;
}

function laneText({ agent, run, messages, openCalls }: LaneConversation): string {
  const open = openCalls.length === 0 ? '' : `, ${plural(openCalls.length, 'open call')}`;
  return `${agent ?? 'no agent'}${run === null ? '' : `, run ${run}`}: ${plural(messages.length, 'message')}${open}`;
}

/** Prints strings one per line: the first of them, unless all are wanted. */
function listLines(out: Output, texts: readonly string[], isFull: boolean): string[] {
  const shown = isFull ? texts : texts.slice(0, entriesMax);
  const lines = shown.map((text) => cut(plain(text), Math.max(10, out.columns - 4)));
  const hidden = texts.length - shown.length;
  return hidden === 0 ? lines : [...lines, out.dim(`… ${hidden} more (--full shows all)`)];
}

/** Prints everything one agent knew at a point, within its scope. */
export function agentLines(out: Output, known: AgentKnowledge, isFull: boolean): string[] {
  const { agent, isThere, scope, beliefs, state, messages } = known;
  const keys = state.map(({ key, value }) => `${key} = ${short(value)}`);
  return [
    out.bold(plain(agent)),
    `  ${isThere ? cut(plain(`sees ${scopeText(scope)}`), out.columns - 2) : 'is not there'}`,
    ...section(out, 'Beliefs', listLines(out, beliefs.map(beliefText), isFull)),
    ...section(out, 'State', listLines(out, keys, isFull)),
    ...section(out, 'Messages', messageLines(out, messages, new Set(), isFull)),
    '',
  ];
}
