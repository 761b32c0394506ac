import { bytesText } from '../../../src/wording/amount.ts';
import { FoldSection } from '../parts/fold-section.tsx';
import { JsonTree } from '../parts/json-tree.tsx';
import { LongText } from '../parts/long-text.tsx';
import { WordDifference } from '../parts/word-difference.tsx';
import type { ContextAnswer, ContextMark, ContextTool } from '../source/answers.ts';
import type { ChangeThis } from './change-this.ts';
import { marks } from './context-marks.ts';

/** Counts the settings that differ from those compared with. */
export function changedSettings({ against, model, system, tools, settings }: ContextAnswer): number {
  if (against === null) return 0;
  return [model, system, settings, ...tools].filter(({ mark }) => mark !== 'same').length;
}

/** The settings that differ from those compared with, each with its difference. */
export function ChangedSettings({
  answer: { model, system, tools, settings, against },
}: {
  readonly answer: ContextAnswer;
}): React.ReactNode {
  if (against === null) return null;
  const changedTools = tools.filter(({ mark }) => mark !== 'same');
  const hasSettings = settings.mark !== 'same' && settings.mark !== 'erased';
  if (model.mark === 'same' && system.mark === 'same' && changedTools.length === 0 && !hasSettings) return null;
  return (
    <ul className="context-list">
      {model.mark === 'same' ? null : (
        <SettingRow name="model">
          <WordDifference before={model.was ?? ''} after={model.value ?? ''} />
        </SettingRow>
      )}
      {system.mark === 'same' ? null : (
        <SettingRow name="system">
          <WordDifference before={system.was ?? ''} after={system.value ?? ''} />
        </SettingRow>
      )}
      {changedTools.map((tool) => (
        <SettingRow key={tool.name} name="tool" mark={tool.mark}>
          <ToolDifference tool={tool} />
        </SettingRow>
      ))}
      {hasSettings ? (
        <SettingRow name="settings">
          <WordDifference
            before={JSON.stringify(settings.was, null, 1)}
            after={JSON.stringify(settings.value, null, 1)}
          />
        </SettingRow>
      ) : null}
    </ul>
  );
}

function SettingRow({
  name,
  mark = 'edited',
  children,
}: {
  readonly name: string;
  readonly mark?: ContextMark;
  readonly children: React.ReactNode;
}): React.ReactNode {
  return (
    <li className="context-row" data-mark={mark}>
      <span className="context-mark">{marks[mark].sign}</span>
      <span className="context-role">{name}</span>
      <div className="context-body">{children}</div>
    </li>
  );
}

function ToolDifference({ tool: { name, definition, was, mark } }: { readonly tool: ContextTool }): React.ReactNode {
  if (mark === 'edited' && was !== undefined)
    return <WordDifference before={JSON.stringify(was, null, 1)} after={JSON.stringify(definition, null, 1)} />;
  return (
    <span className={mark === 'dropped' ? 'diff-out' : 'diff-in'}>
      {name} {mark === 'dropped' ? 'is not offered any more' : 'is offered'}
    </span>
  );
}

/** The system prompt, the tools and the settings of a call, folded. */
export function Settings({
  answer,
  onChange,
}: {
  readonly answer: ContextAnswer;
  readonly onChange: ChangeThis | undefined;
}): React.ReactNode {
  const { system, tools, settings, sizes, model } = answer;
  return (
    <>
      {system.value === null ? null : (
        <FoldSection title="System" about={bytesText(sizes.system)}>
          <LongText text={system.value} className="message-text" />
          {onChange === undefined ? null : (
            <button
              type="button"
              className="quiet"
              onClick={() => onChange({ kind: 'system', text: system.value ?? '' })}
            >
              ✎ change this
            </button>
          )}
        </FoldSection>
      )}
      {tools.length === 0 ? null : (
        <FoldSection title={`Tools (${tools.length})`} about={bytesText(sizes.tools)}>
          {tools.map(({ name, definition }) => (
            <JsonTree key={name} value={{ [name]: definition }} open={1} />
          ))}
          {onChange === undefined ? null : (
            <button
              type="button"
              className="quiet"
              onClick={() => onChange({ kind: 'tools', tools: tools.map(({ definition }) => definition) })}
            >
              ✎ change these
            </button>
          )}
        </FoldSection>
      )}
      {settings.value === null && model.value === null ? null : (
        <FoldSection title="Settings" about={model.value ?? ''}>
          <JsonTree value={{ model: model.value, ...settings.value }} open={1} />
          {onChange === undefined ? null : (
            <button
              type="button"
              className="quiet"
              onClick={() => onChange({ kind: 'model', model: model.value ?? '' })}
            >
              ✎ change the model
            </button>
          )}
        </FoldSection>
      )}
    </>
  );
}
