import { bytesText } from '../../../src/wording/amount.ts';
import { type Block, type Inline, type MarkdownList, readMarkdown } from './markdown.ts';
import { RecordedText } from './recorded-text.tsx';

/** The letters that are read as Markdown; of a longer text, the beginning. */
const lettersMax = 65_536;

/** A text read as Markdown, made of elements that only show. Its links are text. */
export function MarkdownView({ text }: { readonly text: string }): React.ReactNode {
  return (
    <div className="markdown" data-part="markdown">
      <BlockViews blocks={readMarkdown(text.slice(0, lettersMax))} />
      {text.length > lettersMax ? (
        <p className="faint">… {bytesText(text.length)} in all; the rest is only shown as text.</p>
      ) : null}
    </div>
  );
}

function BlockViews({ blocks }: { readonly blocks: readonly Block[] }): React.ReactNode {
  return blocks.map((block, at) => <BlockView key={at} block={block} />);
}

function BlockView({ block }: { readonly block: Block }): React.ReactNode {
  switch (block.kind) {
    case 'heading':
      return (
        <p className="markdown-heading" data-level={block.level}>
          <InlineView inline={block.inline} />
        </p>
      );
    case 'paragraph':
      return (
        <p>
          <InlineView inline={block.inline} />
        </p>
      );
    case 'quote':
      return (
        <blockquote>
          <BlockViews blocks={block.blocks} />
        </blockquote>
      );
    case 'code':
      return <RecordedText text={block.text} as="pre" />;
    case 'list':
      return <ListView list={block} />;
    case 'table':
      return <TableView rows={block.rows} />;
    case 'rule':
      return <hr />;
  }
}

function ListView({ list: { start, items } }: { readonly list: MarkdownList }): React.ReactNode {
  const entries = items.map((blocks, at) => (
    <li key={at}>
      <BlockViews blocks={blocks} />
    </li>
  ));
  return start === undefined ? <ul>{entries}</ul> : <ol start={start}>{entries}</ol>;
}

function TableView({ rows }: { readonly rows: readonly (readonly (readonly Inline[])[])[] }): React.ReactNode {
  return (
    <table>
      <tbody>
        {rows.map((cells, row) => (
          <tr key={row}>
            {cells.map((inline, column) => (
              <td key={column}>
                <InlineView inline={inline} />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function InlineView({ inline }: { readonly inline: readonly Inline[] }): React.ReactNode {
  return inline.map((piece, at) => {
    switch (piece.kind) {
      case 'strong':
        return (
          <strong key={at}>
            <InlineView inline={piece.inline} />
          </strong>
        );
      case 'emphasis':
        return (
          <em key={at}>
            <InlineView inline={piece.inline} />
          </em>
        );
      case 'struck':
        return (
          <s key={at}>
            <InlineView inline={piece.inline} />
          </s>
        );
      case 'code':
        return (
          <code key={at}>
            <RecordedText text={piece.text} />
          </code>
        );
      case 'link':
        return <LinkView key={at} link={piece} />;
      case 'text':
        return <RecordedText key={at} text={piece.text} />;
    }
  });
}

/** A link: its words, and its address unless they are the same. */
function LinkView({
  link: { inline, address },
}: {
  readonly link: Extract<Inline, { kind: 'link' }>;
}): React.ReactNode {
  const [first] = inline;
  if (inline.length === 1 && first?.kind === 'text' && first.text === address) return <RecordedText text={address} />;
  return (
    <span>
      <InlineView inline={inline} />{' '}
      <span className="faint">
        (<RecordedText text={address} />)
      </span>
    </span>
  );
}
