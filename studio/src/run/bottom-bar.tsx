import { refOf } from '../frame/studio.ts';
import type { EventIndex } from '../history/event-index.ts';
import { type Step, stepFrom } from '../history/neighbours.ts';
import { keySign } from '../keys/actions.ts';
import { Icon, type IconName } from '../look/icon.tsx';
import { copyText } from '../parts/copy.ts';
import type { PointName } from '../source/studio-source.ts';
import { ChangeMenu } from './change-menu.tsx';
import { shellWord } from './command-text.ts';
import type { Playing } from './run-actions.ts';

/** The properties of the bar at the bottom. */
export interface BottomBarProps {
  readonly point: PointName;
  readonly index: EventIndex;
  readonly head: number;
  readonly pin: Omit<PointName, 'namespace'> | undefined;
  readonly play: Playing;
  /** Whether the point goes along with a run that is under way. */
  readonly isFollowing: boolean;
  readonly onSelect: (seq: number) => void;
  readonly onFork: (() => void) | undefined;
}

/** Where one is, how to move, the same as a command, and the way to fork. */
export function BottomBar({
  point,
  index,
  head,
  pin,
  play,
  isFollowing,
  onSelect,
  onFork,
}: BottomBarProps): React.ReactNode {
  const { seq, branch } = point;
  const step = (kind: Step, direction: 1 | -1): (() => void) | undefined => {
    const to = stepFrom(index, seq, kind, direction);
    return to === undefined ? undefined : () => onSelect(to);
  };
  const command = `reprise show ${shellWord(refOf(point))}`;
  return (
    <footer className="bottom">
      <Move label="Beginning" icon="first" onMove={seq > 1 ? () => onSelect(1) : undefined} />
      <Move label="Event before" icon="before" onMove={step('event', -1)} />
      <span className="bottom-point mono" data-part="point">
        <strong>
          {branch}@{seq}
        </strong>{' '}
        <span className="faint">of {head === 0 ? '…' : head}</span>
      </span>
      <Move label="Next event" icon="after" onMove={step('event', 1)} />
      <Move label="Head" icon="last" onMove={seq < head ? () => onSelect(head) : undefined} />
      <button
        type="button"
        className="quiet mono"
        aria-pressed={play.speed > 0}
        aria-label={play.speed > 0 ? `Playing ${play.speed} times as fast` : 'Play with the original pauses'}
        title="Play with the original pauses, then 4 and 16 times as fast (Space)"
        disabled={seq >= head && play.speed === 0}
        data-part="play"
        onClick={play.next}
      >
        {play.speed > 0 ? `${play.speed}×` : <Icon name="play" />}
      </button>
      <span className="bottom-keys faint">
        next error <kbd className="key">E</kbd>
        next model call <kbd className="key">{keySign('Shift+ArrowRight')}</kbd>
        all keys <kbd className="key">?</kbd>
      </span>
      {isFollowing ? <span className="chip">follows the run</span> : null}
      {pin === undefined ? null : (
        <span className="chip">
          pin {pin.branch}@{pin.seq}
        </span>
      )}
      <span className="spacer" />
      <button
        type="button"
        className="bottom-command mono"
        title="Copy the command"
        onClick={() => copyText(command, 'the command')}
      >
        $ {command} <Icon name="copy" />
      </button>
      <ChangeMenu point={point} head={head} />
      {onFork === undefined ? null : (
        <button type="button" className="button main" onClick={onFork} data-part="fork">
          <Icon name="fork" /> {seq === head ? 'Fork or go on' : 'Fork here'} <kbd className="key">F</kbd>
        </button>
      )}
    </footer>
  );
}

function Move({
  label,
  icon,
  onMove,
}: {
  readonly label: string;
  readonly icon: IconName;
  readonly onMove: (() => void) | undefined;
}): React.ReactNode {
  return (
    <button
      type="button"
      className="quiet"
      aria-label={label}
      title={label}
      disabled={onMove === undefined}
      onClick={onMove}
    >
      <Icon name={icon} />
    </button>
  );
}
