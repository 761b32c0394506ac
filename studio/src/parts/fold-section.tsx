import { useState } from 'react';

/** A section that folds, with a count next to its name. */
export function FoldSection({
  title,
  about,
  open = false,
  onOpen,
  children,
}: {
  readonly title: React.ReactNode;
  readonly about?: React.ReactNode;
  readonly open?: boolean;
  readonly onOpen?: () => void;
  readonly children: React.ReactNode;
}): React.ReactNode {
  const [isOpen, setOpen] = useState(open);
  return (
    <section className="fold">
      <button
        type="button"
        className="fold-head"
        aria-expanded={isOpen}
        onClick={() => {
          if (!isOpen) onOpen?.();
          setOpen(!isOpen);
        }}
      >
        <span className="fold-sign">{isOpen ? '▾' : '▸'}</span>
        <span>{title}</span>
        {about === undefined ? null : <span className="faint fold-about">{about}</span>}
      </button>
      {isOpen ? <div className="fold-body">{children}</div> : null}
    </section>
  );
}
