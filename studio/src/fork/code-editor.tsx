import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json, jsonParseLinter } from '@codemirror/lang-json';
import { bracketMatching, indentOnInput } from '@codemirror/language';
import { linter, lintGutter } from '@codemirror/lint';
import { EditorState } from '@codemirror/state';
import { EditorView, keymap, lineNumbers } from '@codemirror/view';
import { useEffect, useRef } from 'react';

/** The properties of the editor. */
export interface CodeEditorProps {
  readonly text: string;
  readonly isJson: boolean;
  readonly label: string;
  readonly onText: (text: string) => void;
}

const look = EditorView.theme({
  '&': {
    fontSize: '12px',
    maxHeight: '240px',
    minHeight: '58px',
    backgroundColor: 'var(--panel)',
    color: 'var(--text)',
    borderRadius: '6px',
  },
  '.cm-content': { fontFamily: 'var(--mono)', caretColor: 'var(--accent)' },
  '.cm-gutters': { backgroundColor: 'var(--page)', color: 'var(--faint)', border: 'none' },
  '.cm-scroller': { overflow: 'auto', lineHeight: '18px' },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '1px' },
  '.cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground': {
    backgroundColor: 'var(--tint-selected)',
  },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-tooltip': { backgroundColor: 'var(--raised)', color: 'var(--text)', border: '1px solid var(--hairline)' },
});

/** An editor for text and JSON. It lives in a shadow root, whose sheets a strict policy allows. */
export function CodeEditor({ text, isJson, label, onText }: CodeEditorProps): React.ReactNode {
  const host = useRef<HTMLDivElement>(null);
  const report = useRef(onText);
  report.current = onText;
  useEffect(() => {
    const element = host.current;
    if (element === null) return;
    const root = element.shadowRoot ?? element.attachShadow({ mode: 'open' });
    const state = EditorState.create({
      doc: text,
      extensions: [
        history(),
        indentOnInput(),
        bracketMatching(),
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ 'aria-label': label }),
        keymap.of([...defaultKeymap, ...historyKeymap]),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) report.current(update.state.doc.toString());
        }),
        look,
        ...(isJson ? [lineNumbers(), json(), lintGutter(), linter(jsonParseLinter())] : []),
      ],
    });
    const view = new EditorView({ state, parent: root as unknown as Element, root });
    view.focus();
    return () => view.destroy();
  }, [isJson, label]);
  return <div ref={host} className="editor" />;
}
