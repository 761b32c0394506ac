import { Option } from 'commander';
import { pathText } from '../../core/diff-state.ts';
import type { DiffPair } from '../../core/diff.ts';
import type { Event } from '../../core/event.ts';
import type { JsonValue } from '../../core/json.ts';
import type { Comparison } from '../../engine/compare.ts';
import type { Session } from '../../engine/session.ts';
import { type Summary, summary } from '../../projections/summary.ts';
import type { CommandSpec } from '../command.ts';
import type { Context } from '../context.ts';
import { done, no } from '../exit-code.ts';
import { costText, countText } from '../render/amount.ts';
import { type DiffLine, diffLines } from '../render/diff-lines.ts';
import { short } from '../render/event-detail.ts';
import { plain } from '../render/text.ts';
import { projectionNamed } from '../shipped-projections.ts';

const collect = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];

/** `reprise diff`. */
export const diff: CommandSpec = {
  arguments: [
    { name: '<a>', about: 'a place: session[/branch][@at]' },
    { name: '<b>', about: 'another' },
  ],
  options: [
    new Option('--state <projection>', 'also how the states of a projection differ').argParser(collect),
    new Option('--strict', 'pair events by position and compare their types alone'),
    new Option('--limit <n>', 'lines of differences at most').default('40'),
  ],
  examples: ['reprise diff demo demo/careful', 'reprise diff demo@12 other --state conversation', 'reprise diff demo demo/careful --strict'],
  run: async (context, [a = '', b = ''], options) => {
    const [left, right] = [await context.at(a), await context.at(b)];
    const reprise = await context.open();
    const limit = Number(options['limit']);
    if (options['strict'] === true) {
      const found = await reprise.diff(a, b, { strict: true });
      if (context.out.json === undefined) await context.out.lines(found.toLines(limit).map(plain));
      else await context.out.value(found);
      return found.identical ? done : no;
    }
    const names = (options['state'] as readonly string[] | undefined) ?? [];
    const found = await reprise.diff(a, b, { states: names.map((name) => projectionNamed(name) as never) });
    const sides = [left, right].map(({ session, point }) => ({ session, point })) as [Side, Side];
    if (context.out.json === undefined) await print(context, found, sides, limit);
    else await context.out.value(shapeOf(found, limit));
    return found.identical ? done : no;
  },
};

interface Side {
  readonly session: Session;
  readonly point: string;
}

function shapeOf(found: Comparison, limit: number): Record<string, unknown> {
  const { identical, forkPoint, divergedAt, sustainedAt, matched, changed, onlyLeft, onlyRight, states } = found;
  const hunks = found.pairs.filter((pair) => pair.kind !== 'equal').slice(0, limit);
  return { identical, forkPoint, divergedAt, sustainedAt, matched, changed, onlyLeft, onlyRight, hunks, states };
}

async function print({ out }: Context, found: Comparison, sides: readonly [Side, Side], limit: number): Promise<void> {
  await out.line(verdict((text) => out.bold(text), found));
  if (found.forkPoint !== null) await out.line(out.dim(`they share everything up to ${found.forkPoint.branch}@${found.forkPoint.seq}`));
  const shown = withContext(found.pairs, limit);
  const events = [await eventsOf(sides[0], shown, 'left'), await eventsOf(sides[1], shown, 'right')] as const;
  const lines = shown.map((pair): DiffLine => lineOf(pair, events));
  if (lines.length > 0) await out.lines(['', ...diffLines(out, lines)]);
  const hidden = found.pairs.filter((pair) => pair.kind !== 'equal').length - shown.filter((pair) => pair.kind !== 'equal').length;
  if (hidden > 0) out.say(`… ${countText(hidden)} more differences; --limit shows more.`);
  for (const [name, states] of Object.entries(found.states)) await out.lines(['', out.bold(name), ...stateLines(out.style.bind(out), states)]);
  const [a, b] = [await sides[0].session.stateAt(sides[0].point, summary), await sides[1].session.stateAt(sides[1].point, summary)];
  await out.lines(['', `${out.dim('left ')} ${usageText(a)}`, `${out.dim('right')} ${usageText(b)}`]);
}

function verdict(bold: (text: string) => string, found: Comparison): string {
  if (found.identical) return bold(`The same: ${countText(found.matched)} events behaved alike.`);
  const at = found.divergedAt;
  const where = at === null ? '' : `; they first differ at ${at.left === null ? 'the end' : `@${at.left}`} (left) and ${at.right === null ? 'the end' : `@${at.right}`} (right)`;
  return bold(`Different: ${countText(found.matched)} equal, ${found.changed} changed, ${found.onlyLeft} only left, ${found.onlyRight} only right${where}.`);
}

const contextEvents = 1;

/** The differences up to the limit, each with a little of what stands around it. */
function withContext(pairs: readonly DiffPair[], limit: number): DiffPair[] {
  const wanted = new Set<number>();
  let left = limit;
  for (const [index, pair] of pairs.entries()) {
    if (pair.kind === 'equal' || left-- <= 0) continue;
    for (let near = index - contextEvents; near <= index + contextEvents; near++) wanted.add(near);
  }
  return pairs.filter((pair, index) => wanted.has(index) && (pair.kind === 'equal' || left > -pairs.length));
}

async function eventsOf({ session, point }: Side, pairs: readonly DiffPair[], side: 'left' | 'right'): Promise<Map<number, Event>> {
  const wanted = new Set(pairs.flatMap((pair) => (side in pair ? [(pair as Record<typeof side, number>)[side]] : [])));
  const found = new Map<number, Event>();
  if (wanted.size === 0) return found;
  for await (const event of session.replay({ at: point })) {
    if (wanted.has(event.seq)) found.set(event.seq, event);
    if (found.size === wanted.size) break;
  }
  return found;
}

function lineOf(pair: DiffPair, [lefts, rights]: readonly [Map<number, Event>, Map<number, Event>]): DiffLine {
  const left = 'left' in pair ? lefts.get(pair.left) : undefined;
  const right = 'right' in pair ? rights.get(pair.right) : undefined;
  const fields = pair.kind === 'changed' ? pair.fields : undefined;
  return { kind: pair.kind, ...(left === undefined ? {} : { left }), ...(right === undefined ? {} : { right }), ...(fields === undefined ? {} : { fields }) };
}

type Styler = (style: 'red' | 'green' | 'yellow', text: string) => string;

function stateLines(style: Styler, states: Comparison['states'][string]): string[] {
  if (states.identical) return ['  the same'];
  const value = (held: JsonValue): string => plain(short(held));
  return [
    ...states.changed.map(({ path, left, right }) => `  ~ ${plain(pathText(path))}: ${style('red', value(left))} → ${style('green', value(right))}`),
    ...states.removed.map((one) => style('red', `  - ${plain(pathText(one.path))}: ${value(one.value)}`)),
    ...states.added.map((one) => style('green', `  + ${plain(pathText(one.path))}: ${value(one.value)}`)),
  ];
}

function usageText({ events, spending, outcome }: Summary): string {
  return `${countText(events)} events, ${countText(spending.inputTokens)} tokens in, ${countText(spending.outputTokens)} out, ${costText(spending.cost)}${outcome === null ? '' : `, ${outcome}`}`;
}
