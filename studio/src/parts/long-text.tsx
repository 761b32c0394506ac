import { useState } from 'react';
import { bytesText } from '../../../src/wording/amount.ts';
import { announce } from './announcer.ts';
import { RecordedText } from './recorded-text.tsx';

/** The characters of a text that are shown at first, and the most that are laid out at once. */
const firstMax = 4_000;
const laidOutMax = 1_048_576;

/** The properties of a long text. */
export interface LongTextProps {
  readonly text: string;
  /** Reads on where the text was cut. */
  readonly more?: { readonly length: number; readonly read: (offset: number) => Promise<string> } | undefined;
  readonly className?: string;
}

/** A text of any length: its beginning, its size, and a way to the rest. */
export function LongText({ text, more, className }: LongTextProps): React.ReactNode {
  const [shown, setShown] = useState(firstMax);
  const [rest, setRest] = useState('');
  const whole = rest === '' ? text : text + rest;
  const length = more?.length ?? whole.length;
  const cut = whole.slice(0, shown);
  const readOn = (): void => {
    const next = Math.min(laidOutMax, shown < whole.length ? whole.length : shown + laidOutMax / 4);
    setShown(next);
    if (more === undefined || whole.length >= next) return;
    more
      .read(whole.length)
      .then((read) => setRest((old) => old + read))
      .catch((error: unknown) => announce(error instanceof Error ? error.message : 'Cannot read the rest'));
  };
  return (
    <div className={className}>
      <RecordedText text={cut} />
      {cut.length < length ? (
        <span className="long-more">
          {' '}
          {shown >= laidOutMax ? (
            <span className="faint">
              … {bytesText(length)} in all, of which the first {bytesText(laidOutMax)} are shown
            </span>
          ) : (
            <button type="button" className="link" onClick={readOn}>
              … {bytesText(length)} in all, show more
            </button>
          )}
        </span>
      ) : null}
    </div>
  );
}
