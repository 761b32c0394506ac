import { lazy, Suspense, useState } from 'react';
import { isObject } from '../../../src/core/json.ts';
import type { Edit } from '../../../src/core/view/edit.ts';
import { editContent, withContent } from './draft.ts';

const CodeEditor = lazy(async () => ({ default: (await import('./code-editor.tsx')).CodeEditor }));

/** The editor of one edit: its content, and for some kinds a name next to it. What cannot be read says where. */
export function EditEditor({
  edit,
  onEdit,
}: {
  readonly edit: Edit;
  readonly onEdit: (edit: Edit) => void;
}): React.ReactNode {
  const [problem, setProblem] = useState('');
  const { text, isJson } = appended(edit) ?? editContent(edit);
  const take = (next: string): void => {
    try {
      onEdit(edit.kind === 'append' ? withMessage(edit, next) : withContent(edit, next));
      setProblem('');
    } catch (error) {
      setProblem(error instanceof Error ? error.message : 'It cannot be read');
    }
  };
  return (
    <div className="edit-editor">
      {edit.kind === 'state' ? (
        <label>
          <span className="label">key</span>
          <input
            className="field"
            value={edit.key}
            onChange={(event) => onEdit({ ...edit, key: event.target.value })}
          />
        </label>
      ) : null}
      {edit.kind === 'drop' ? (
        <label>
          <input
            type="checkbox"
            checked={edit.cascade === true}
            onChange={(event) => onEdit({ ...edit, cascade: event.target.checked })}
          />{' '}
          also everything that depends on it
        </label>
      ) : (
        <Suspense
          fallback={
            <textarea
              className="field editor-plain"
              aria-label="Content"
              defaultValue={text}
              onChange={(event) => take(event.target.value)}
            />
          }
        >
          <CodeEditor text={text} isJson={isJson} label={`Content of the edit, ${edit.kind}`} onText={take} />
        </Suspense>
      )}
      {problem === '' ? null : (
        <p className="color-error" role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}

/** Returns the words of a message that an edit appends. */
function appended(edit: Edit): { readonly text: string; readonly isJson: boolean } | undefined {
  if (edit.kind !== 'append' || !isObject(edit.event.data)) return undefined;
  const { message } = edit.event.data;
  return isObject(message) && typeof message['content'] === 'string'
    ? { text: message['content'], isJson: false }
    : undefined;
}

function withMessage(edit: Extract<Edit, { kind: 'append' }>, content: string): Edit {
  return { ...edit, event: { ...edit.event, data: { message: { role: 'user', content } } } };
}
