import { lazy, Suspense, useState } from 'react';
import { isObject, type JsonObject, type JsonValue } from '../../../src/core/json.ts';
import { type MessagePart, partsOf } from '../../../src/core/message/message.ts';
import { bytesText } from '../../../src/wording/amount.ts';
import { JsonTree } from '../parts/json-tree.tsx';
import { LongText } from '../parts/long-text.tsx';
import { looksLikeMarkdown } from '../parts/markdown-signs.ts';
import type { Cut } from '../source/studio-source.ts';

const MarkdownView = lazy(async () => ({ default: (await import('../parts/markdown-view.tsx')).MarkdownView }));

/** How to get the rest of a text that was cut: the path of the value that is shown, and a function that reads on. */
export interface MoreText {
  readonly cuts: readonly Cut[];
  /** The path of the message in the value that the cuts speak of. */
  readonly path: string;
  readonly read: ((path: string, offset: number) => Promise<string>) | undefined;
}

/** A message, part by part: what was said, which tools were called, what they returned. */
export function MessageView({
  message,
  more,
}: {
  readonly message: JsonObject;
  readonly more?: MoreText | undefined;
}): React.ReactNode {
  const { content } = message;
  const parts = partsOf(message);
  if (parts.length === 0)
    return content === undefined || content === '' || (Array.isArray(content) && content.length === 0) ? (
      <p className="faint">nothing</p>
    ) : (
      <JsonTree value={content} open={2} />
    );
  return (
    <div className="message">
      {parts.map((part, at) => (
        <Part
          key={`${at} ${part.type}`}
          part={part}
          more={more}
          path={typeof content === 'string' ? '/content' : `/content/${at}`}
          isText={typeof content === 'string'}
        />
      ))}
    </div>
  );
}

interface PartProps {
  readonly part: MessagePart;
  readonly more: MoreText | undefined;
  readonly path: string;
  readonly isText: boolean;
}

function Part({ part, more, path, isText }: PartProps): React.ReactNode {
  switch (part.type) {
    case 'text':
      return <Prose text={String(part.text)} more={moreOf(more, isText ? path : `${path}/text`)} />;
    case 'reasoning':
      return (
        <div className="message-reasoning">
          <span className="label">reasoning</span>
          <LongText text={String(part.text)} more={moreOf(more, `${path}/text`)} />
        </div>
      );
    case 'tool-call':
      return (
        <div className="message-call">
          <span className="color-tool">→ {part.toolName}</span> <Value value={part.input} />
        </div>
      );
    case 'tool-result':
      return (
        <div className="message-call">
          <span className={part.isError === true ? 'color-error' : 'color-tool'}>
            {part.isError === true ? '✕' : '←'} {part.toolName}
          </span>{' '}
          {typeof part.output === 'string' ? (
            <LongText text={part.output} more={moreOf(more, `${path}/output`)} />
          ) : (
            <Value value={part.output} />
          )}
        </div>
      );
    case 'image':
      return <Picture data={part.image} mediaType={part.mediaType} />;
    case 'file':
      return (
        <p className="dim">
          file {part.filename ?? ''} {part.mediaType}, {bytesText(Math.floor(part.data.length * 0.75))}
        </p>
      );
    default:
      return isObject(part) ? <JsonTree value={part} open={1} /> : null;
  }
}

/** Words of a message: as they are, or read as Markdown if somebody asks for it. */
function Prose({ text, more }: { readonly text: string; readonly more: ReturnType<typeof moreOf> }): React.ReactNode {
  const [isMarkdown, setMarkdown] = useState(false);
  const plain = <LongText text={text} more={more} className="message-text" />;
  return (
    <div className="prose">
      {isMarkdown ? (
        <Suspense fallback={plain}>
          <MarkdownView text={text} />
        </Suspense>
      ) : (
        plain
      )}
      {looksLikeMarkdown(text) ? (
        <button
          type="button"
          className="quiet prose-as"
          aria-pressed={isMarkdown}
          onClick={() => setMarkdown(!isMarkdown)}
        >
          as Markdown
        </button>
      ) : null}
    </div>
  );
}

function moreOf(
  more: MoreText | undefined,
  path: string,
): { readonly length: number; readonly read: (offset: number) => Promise<string> } | undefined {
  const cut = more?.cuts.find((each) => each.path === `${more.path}${path}` && !each.items);
  const read = more?.read;
  if (cut === undefined || read === undefined) return undefined;
  return { length: cut.length, read: (offset) => read(path, offset) };
}

const shortMax = 120;

/** A small value on one line, a larger one as a tree. */
export function Value({ value }: { readonly value: JsonValue }): React.ReactNode {
  const text = JSON.stringify(value);
  return text.length <= shortMax ? <code className="recorded">{text}</code> : <JsonTree value={value} open={1} />;
}

/** A picture of the record. It is shown after a click, and only if the record has its data. */
function Picture({
  data,
  mediaType,
}: {
  readonly data: string;
  readonly mediaType: string | undefined;
}): React.ReactNode {
  const [isShown, setShown] = useState(false);
  const isLink = /^[a-z]+:\/\//i.test(data);
  const url = data.startsWith('data:image/') ? data : `data:${mediaType ?? 'image/png'};base64,${data}`;
  if (isLink) return <p className="dim">picture at {data}</p>;
  if (isShown) return <img className="picture" src={url} alt="from the record" />;
  return (
    <button type="button" className="button" onClick={() => setShown(true)}>
      Show the picture, {mediaType ?? 'of unknown kind'}, {bytesText(Math.floor(data.length * 0.75))}
    </button>
  );
}
