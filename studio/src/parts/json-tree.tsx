import { useState } from 'react';
import { isArray, isObject, type JsonValue } from '../../../src/core/json.ts';
import { bytesText, countText, plural } from '../../../src/wording/amount.ts';
import { Icon } from '../look/icon.tsx';
import type { Cut } from '../source/studio-source.ts';
import { copyText } from './copy.ts';
import { RecordedText } from './recorded-text.tsx';

/** The properties of a tree of JSON. */
export interface JsonTreeProps {
  readonly value: JsonValue;
  readonly cuts?: readonly Cut[];
  /** Levels that are open at first. */
  readonly open?: number;
  /** Shows more of a text that was cut. */
  readonly onMore?: (cut: Cut) => void;
  /** Returns the actions of a value, by its path. */
  readonly actions?: (path: string, value: JsonValue) => React.ReactNode;
  /** Paths of values that are different here. */
  readonly changed?: ReadonlySet<string>;
}

/** Rows of a list or object that are shown at once. */
const rowsStep = 200;
const textMax = 500;

/** A value as a tree that folds; only what is open exists. */
export function JsonTree(props: JsonTreeProps): React.ReactNode {
  return (
    <div className="tree" role="group">
      <Node {...props} path="" name={undefined} depth={0} />
    </div>
  );
}

interface NodeProps extends JsonTreeProps {
  readonly path: string;
  readonly name: string | undefined;
  readonly depth: number;
}

function Node(props: NodeProps): React.ReactNode {
  const { value, path, name, depth, changed } = props;
  const isBranch = (isArray(value) && value.length > 0) || (isObject(value) && Object.keys(value).length > 0);
  const [isOpen, setOpen] = useState(depth < (props.open ?? 1));
  const cut = props.cuts?.find((each) => each.path === path);
  return (
    <div className="node" data-depth={Math.min(depth, 8)} data-changed={changed?.has(path) || undefined}>
      <div className="node-line">
        {isBranch ? (
          <button
            type="button"
            className="node-fold"
            aria-expanded={isOpen}
            aria-label={`${isOpen ? 'Fold' : 'Open'} ${name ?? 'the value'}`}
            onClick={() => setOpen(!isOpen)}
          >
            {isOpen ? '▾' : '▸'}
          </button>
        ) : (
          <span className="node-fold" />
        )}
        {name === undefined ? null : (
          <span className="node-name">
            <RecordedText text={name} />:
          </span>
        )}
        {isBranch ? <Summary value={value} isOpen={isOpen} cut={cut} /> : <Leaf {...props} cut={cut} />}
        <span className="node-actions">
          <button
            type="button"
            className="quiet"
            title="Copy the path"
            aria-label={`Copy the path ${path}`}
            onClick={() => copyText(path, 'the path')}
          >
            path
          </button>
          <button
            type="button"
            className="quiet"
            title="Copy the value"
            aria-label="Copy the value"
            onClick={() => copyText(textOf(value), 'the value')}
          >
            <Icon name="copy" />
          </button>
          {props.actions?.(path, value)}
        </span>
      </div>
      {isBranch && isOpen ? <Children {...props} /> : null}
    </div>
  );
}

const textOf = (value: JsonValue): string => (typeof value === 'string' ? value : JSON.stringify(value, null, 2));

function Summary({
  value,
  isOpen,
  cut,
}: {
  readonly value: JsonValue;
  readonly isOpen: boolean;
  readonly cut: Cut | undefined;
}): React.ReactNode {
  const count = isArray(value) ? value.length : isObject(value) ? Object.keys(value).length : 0;
  const words = isArray(value) ? plural(count, 'item') : plural(count, 'key');
  const gone = cut?.items === true ? `, ${countText(cut.length - cut.shown)} more are not here` : '';
  return (
    <span className="faint">
      {isOpen ? '' : isArray(value) ? '[…] ' : '{…} '}
      {words}
      {gone}
    </span>
  );
}

function Leaf({ value, cut, onMore }: NodeProps & { readonly cut: Cut | undefined }): React.ReactNode {
  const [isWhole, setWhole] = useState(false);
  if (typeof value !== 'string')
    return (
      <span className={typeof value === 'number' ? 'node-number' : 'node-word'}>
        {isObject(value) ? '{}' : isArray(value) ? '[]' : String(value)}
      </span>
    );
  const shown = isWhole ? value : value.slice(0, textMax);
  const length = cut?.length ?? value.length;
  return (
    <span className="node-text">
      <RecordedText text={shown} />
      {shown.length < value.length ? (
        <button type="button" className="link" onClick={() => setWhole(true)}>
          … show all {bytesText(value.length)}
        </button>
      ) : cut !== undefined && onMore !== undefined ? (
        <button type="button" className="link" onClick={() => onMore(cut)}>
          … {bytesText(length)}, show more
        </button>
      ) : null}
    </span>
  );
}

/** Writes a key as one word of a JSON pointer. */
const pointerWord = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1');

function Children(props: NodeProps): React.ReactNode {
  const { value, path, depth } = props;
  const [shown, setShown] = useState(rowsStep);
  const entries: readonly (readonly [string, JsonValue])[] = isArray(value)
    ? value.map((item, at) => [String(at), item])
    : isObject(value)
      ? Object.entries(value).flatMap(([key, item]) => (item === undefined ? [] : [[key, item] as const]))
      : [];
  return (
    <div className="node-children">
      {entries.slice(0, shown).map(([key, item]) => (
        <Node key={key} {...props} value={item} path={`${path}/${pointerWord(key)}`} name={key} depth={depth + 1} />
      ))}
      {entries.length > shown ? (
        <button type="button" className="link node-more" onClick={() => setShown(shown + rowsStep * 5)}>
          {countText(entries.length - shown)} more
        </button>
      ) : null}
    </div>
  );
}
