import { Children, useRef } from 'react';
import { useCell } from './cell.ts';
import { KeptSetting } from './kept-setting.ts';

const sizes = new Map<string, KeptSetting<number>>();

function sizeOf(name: string, initial: number): KeptSetting<number> {
  const known = sizes.get(name) ?? new KeptSetting<number>(`size.${name}`, initial);
  sizes.set(name, known);
  return known;
}

/** How two parts share their width. */
export interface SplitProps {
  readonly name: string;
  readonly label: string;
  readonly initial: number;
  readonly min: number;
  readonly max: number;
  /** The side that has the width; the other takes the rest. */
  readonly side?: 'start' | 'end';
  readonly children: readonly [React.ReactNode, React.ReactNode];
}

const keyStep = 16;

/** Two parts side by side, with a divider that drags and takes arrow keys. Its place is kept by the browser. */
export function Split({ name, label, initial, min, max, side = 'start', children }: SplitProps): React.ReactNode {
  const setting = sizeOf(name, initial);
  const size = useCell(setting.cell);
  const from = useRef<{ readonly x: number; readonly size: number }>(undefined);
  const sign = side === 'start' ? 1 : -1;
  const resize = (next: number): void => setting.set(Math.round(Math.min(max, Math.max(min, next))));
  const [first, second] = Children.toArray(children);
  return (
    <div
      className="split"
      data-side={side}
      data-split={name}
      ref={(element) => element?.style.setProperty('--size', `${size}px`)}
    >
      {first}
      <div
        className="divider"
        role="separator"
        tabIndex={0}
        aria-label={label}
        aria-orientation="vertical"
        aria-valuenow={size}
        aria-valuemin={min}
        aria-valuemax={max}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          from.current = { x: event.clientX, size };
        }}
        onPointerMove={(event) => {
          if (from.current !== undefined) resize(from.current.size + sign * (event.clientX - from.current.x));
        }}
        onPointerUp={() => {
          from.current = undefined;
        }}
        onDoubleClick={() => resize(initial)}
        onKeyDown={(event) => {
          if (event.key === 'ArrowLeft') resize(size - sign * keyStep);
          else if (event.key === 'ArrowRight') resize(size + sign * keyStep);
          else return;
          event.preventDefault();
        }}
      />
      {second}
    </div>
  );
}
