import { useEffect, useRef, useState } from 'react';
import { panels, type RunAddress, runAddress } from '../address/address.ts';
import { refOf, useStudio } from '../frame/studio.ts';
import type { EventIndex } from '../history/event-index.ts';
import { type Step, stepFrom } from '../history/neighbours.ts';
import { type Action, useActions } from '../keys/actions.ts';
import type { ListRows } from '../list/list-rows.ts';
import { rowOfSeq } from '../list/list-rows.ts';
import { announce } from '../parts/announcer.ts';
import { copyText } from '../parts/copy.ts';
import type { PointName } from '../source/studio-source.ts';
import { nearestSeq, placeEvents } from '../strip/positions.ts';
import { panned, type Viewport, wholeView, zoomed } from '../strip/viewport.ts';
import { commandFor } from './command-text.ts';

/** The parts of a run that keys act on. */
export interface RunActing {
  readonly address: RunAddress;
  readonly point: PointName;
  readonly index: EventIndex;
  readonly rows: ListRows;
  readonly hits: readonly number[];
  readonly head: number;
  readonly select: (seq: number) => void;
  readonly set: (change: Partial<RunAddress>) => void;
  readonly onFork: (() => void) | undefined;
}

/** How fast a run is followed, 0 if it is not; and the way to the next speed. */
export interface Playing {
  readonly speed: number;
  readonly next: () => void;
}

/** Offers everything that can be done at a point of a run, and returns whether it is playing. */
export function useRunActions(acting: RunActing): Playing {
  const { address, point, index, rows, hits, head, select, set, onFork } = acting;
  const studio = useStudio();
  const play = usePlay(acting);
  const { seq } = point;
  const go = (step: Step, direction: 1 | -1): void => {
    const to = stepFrom(index, seq, step, direction, address.raw ? undefined : (at) => index.isInView(at));
    if (to === undefined)
      announce(direction === 1 ? `No ${nameOf(step)} after this one` : `No ${nameOf(step)} before this one`);
    else select(to);
  };
  const goHit = (direction: 1 | -1): void => {
    const to = direction === 1 ? hits.find((hit) => hit > seq) : hits.findLast((hit) => hit < seq);
    if (to === undefined) announce('No hit that way');
    else select(to);
  };
  const goRow = (by: number): void => {
    const at = Math.min(rows.rows.length - 1, Math.max(0, rowOfSeq(rows, seq) + by));
    const to = rows.rows[at];
    if (to !== undefined) select(Math.abs(to));
  };
  const view = (change: (view: Viewport, total: number) => Viewport): void =>
    set({ range: changedRange(index, address, seq, change) });
  const move = (id: string, name: string, keys: readonly string[], run: () => void): Action => ({
    id,
    name,
    keys,
    group: 'Move',
    run,
  });
  const actions: readonly Action[] = [
    move('next', 'Next event', ['ArrowRight'], () => go('event', 1)),
    move('previous', 'Event before', ['ArrowLeft'], () => go('event', -1)),
    move('next-model', 'Next model call', ['Shift+ArrowRight'], () => go('model', 1)),
    move('previous-model', 'Model call before', ['Shift+ArrowLeft'], () => go('model', -1)),
    move('next-turn', 'Next turn', [']'], () => go('turn', 1)),
    move('previous-turn', 'Turn before', ['['], () => go('turn', -1)),
    move('next-error', 'Next error', ['E'], () => go('error', 1)),
    move('previous-error', 'Error before', ['Shift+E'], () => go('error', -1)),
    move('next-hit', 'Next hit of the search', ['N'], () => goHit(1)),
    move('previous-hit', 'Hit before', ['Shift+N'], () => goHit(-1)),
    move('beginning', 'Beginning', ['Home'], () => select(1)),
    move('head', 'Head', ['End'], () => select(head)),
    move('row-down', 'Next row of the list', ['J', 'ArrowDown'], () => goRow(1)),
    move('row-up', 'Row before', ['K', 'ArrowUp'], () => goRow(-1)),
    move('page-down', 'A page of the list down', ['PageDown'], () => goRow(20)),
    move('page-up', 'A page of the list up', ['PageUp'], () => goRow(-20)),
    {
      id: 'zoom-in',
      name: 'Zoom in',
      keys: ['W'],
      group: 'Look',
      run: () => view((old, total) => zoomed(old, total, 0.6, placeOfSeq(index, address, seq))),
    },
    {
      id: 'zoom-out',
      name: 'Zoom out',
      keys: ['S'],
      group: 'Look',
      run: () => view((old, total) => zoomed(old, total, 1 / 0.6, placeOfSeq(index, address, seq))),
    },
    {
      id: 'pan-left',
      name: 'Pan left',
      keys: ['A'],
      group: 'Look',
      run: () => view((old, total) => panned(old, total, -0.25)),
    },
    {
      id: 'pan-right',
      name: 'Pan right',
      keys: ['D'],
      group: 'Look',
      run: () => view((old, total) => panned(old, total, 0.25)),
    },
    { id: 'whole', name: 'Show everything', keys: ['0'], group: 'Look', run: () => set({ range: undefined }) },
    {
      id: 'play',
      name: play.speed === 0 ? 'Play with the original pauses' : `Playing ${play.speed}×`,
      keys: ['Space'],
      group: 'Look',
      run: play.next,
    },
    ...panels.map(
      (panel, at): Action => ({
        id: `panel-${panel}`,
        name: `Show ${panel[0]?.toUpperCase()}${panel.slice(1)}`,
        keys: [String(at + 1)],
        group: 'Look',
        run: () => set({ panel }),
      }),
    ),
    {
      id: 'raw',
      name: address.raw ? 'Show the view only' : 'Show what left the view',
      keys: [],
      group: 'Look',
      run: () => set({ raw: !address.raw }),
    },
    { id: 'pin', name: 'Pin this point', keys: ['P'], group: 'Look', run: () => togglePin(studio, point) },
    {
      id: 'filter',
      name: 'Filter the list',
      keys: ['/'],
      group: 'Look',
      run: () => document.querySelector<HTMLElement>('[data-part=filter]')?.focus(),
    },
    { id: 'fork', name: seq === head ? 'Fork here, or go on' : 'Fork here', keys: ['F'], group: 'Change', run: onFork },
    {
      id: 'tree',
      name: 'Branches of this session',
      keys: ['T'],
      group: 'Go',
      run: () => studio.bar.go({ screen: 'tree', session: point.session, branch: point.branch }),
    },
    { id: 'copy-ref', name: 'Copy the ref', keys: ['Y'], group: 'Page', run: () => copyText(refOf(point), 'the ref') },
    {
      id: 'copy-command',
      name: 'Copy the command',
      keys: ['Shift+Y'],
      group: 'Page',
      run: () => copyText(commandFor(point, address), 'the command'),
    },
  ];
  useActions(actions);
  return play;
}

const nameOf = (step: Step): string => (step === 'model' ? 'model call' : step);

function togglePin(studio: ReturnType<typeof useStudio>, { session, branch, seq }: PointName): void {
  const pin = studio.pin.value;
  if (pin !== undefined && pin.session === session && pin.branch !== branch) {
    studio.bar.go(runAddress(pin.session, pin.branch, pin.seq, { with: [refOf({ session, branch, seq })] }));
    return;
  }
  const isHere = pin?.session === session && pin.branch === branch && pin.seq === seq;
  studio.pin.set(isHere ? undefined : { session, branch, seq });
  announce(isHere ? 'Pin removed' : `Pinned @${seq}`);
}

const placeOfSeq = (index: EventIndex, { scale }: RunAddress, seq: number): number =>
  placeEvents(index, scale).at[seq] ?? 0;

function changedRange(
  index: EventIndex,
  { scale, range }: RunAddress,
  _seq: number,
  change: (view: Viewport, total: number) => Viewport,
): readonly [number, number] | undefined {
  const positions = placeEvents(index, scale);
  const { total, at } = positions;
  const old = range === undefined ? wholeView(total) : { from: at[range[0]] ?? 0, to: at[range[1]] ?? total };
  const next = change(old, total);
  const whole = wholeView(total);
  if (next.from <= whole.from && next.to >= whole.to) return undefined;
  const from = nearestSeq(positions, next.from);
  return [from, Math.max(from + 1, nearestSeq(positions, next.to))];
}

const speeds = [0, 1, 4, 16] as const;
const pauseMax = 5_000;

/** Follows the run with its original pauses: at once, four times, sixteen times as fast, then stops. */
function usePlay({ index, point, head, select }: RunActing): Playing {
  const [speed, setSpeed] = useState<number>(0);
  const latest = useRef(select);
  latest.current = select;
  const { seq } = point;
  useEffect(() => {
    if (speed === 0) return;
    if (seq >= head) return setSpeed(0);
    const { time } = index.columns;
    const pause = Math.max(0, (time[seq + 1] ?? 0) - (time[seq] ?? 0)) / speed;
    const timer = setTimeout(() => latest.current(seq + 1), Math.min(pauseMax, Math.max(16, pause)));
    return () => clearTimeout(timer);
  }, [speed, seq, head, index]);
  const next = (): void => {
    const at = speeds.findIndex((each) => each === speed);
    const to = speeds[(at + 1) % speeds.length] ?? 0;
    setSpeed(to);
    announce(to === 0 ? 'Stopped' : `Playing ${to}×`);
  };
  return { speed, next };
}
