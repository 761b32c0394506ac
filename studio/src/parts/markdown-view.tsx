import { bytesText } from '../../../src/wording/amount.ts';
import { type Block, type Inline, readMarkdown } from './markdown.ts';
import { RecordedText } from './recorded-text.tsx';

/** The letters that are read as Markdown; of a longer text, the beginning. */
const lettersMax = 65_536;

/** A text read as Markdown, made of elements that only show. Its links are text. */
export function MarkdownView({ text }: { readonly text: string }): React.ReactNode {
  return (
    <div className="markdown" data-part="markdown">
      {readMarkdown(text.slice(0, lettersMax)).map((block, at) => (
        <BlockView key={at} block={block} />
      ))}
      {text.length > lettersMax ? (
        <p className="faint">… {bytesText(text.length)} in all; the rest is only shown as text.</p>
      ) : null}
    </div>
  );
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
          <InlineView inline={block.inline} />
        </blockquote>
      );
    case 'code':
      return <RecordedText text={block.text} as="pre" />;
    case 'list':
      return <ListView block={block} />;
    case 'table':
      return <TableView rows={block.rows} />;
    case 'rule':
      return <hr />;
  }
}

function ListView({
  block: { isOrdered, items },
}: {
  readonly block: Extract<Block, { kind: 'list' }>;
}): React.ReactNode {
  const Tag = isOrdered ? 'ol' : 'ul';
  return (
    <Tag>
      {items.map(({ depth, inline }, at) => (
        <li key={at} data-depth={depth}>
          <InlineView inline={inline} />
        </li>
      ))}
    </Tag>
  );
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
    const shown = <RecordedText key={at} text={piece.text} />;
    switch (piece.kind) {
      case 'strong':
        return <strong key={at}>{shown}</strong>;
      case 'emphasis':
        return <em key={at}>{shown}</em>;
      case 'code':
        return <code key={at}>{shown}</code>;
      case 'link':
        return (
          <span key={at}>
            {shown}{' '}
            <span className="faint">
              (<RecordedText text={piece.address ?? ''} />)
            </span>
          </span>
        );
      case 'text':
        return shown;
    }
  });
}
