import { useState } from 'react';
import type { JsonObject, JsonValue } from '../../../src/core/json.ts';
import { bytesText, countText, plural } from '../../../src/wording/amount.ts';
import { messageContent } from '../../../src/wording/message-content.ts';
import { refOf, useStudio } from '../frame/studio.ts';
import type { EventIndex } from '../history/event-index.ts';
import { useCell } from '../parts/cell.ts';
import { FoldSection } from '../parts/fold-section.tsx';
import { JsonTree } from '../parts/json-tree.tsx';
import { RecordedText } from '../parts/recorded-text.tsx';
import { SeqLink } from '../parts/seq-link.tsx';
import { Fading, Failure, Nothing, Reading } from '../parts/states.tsx';
import { useAnswer } from '../parts/use-answer.ts';
import { WordDifference } from '../parts/word-difference.tsx';
import type { ContextAnswer, ContextMessage } from '../source/answers.ts';
import type { Cut, PointName } from '../source/studio-source.ts';
import type { ChangeThis } from './change-this.ts';
import { contextKey } from './context-key.ts';
import { marks } from './context-marks.ts';
import { ChangedSettings, changedSettings, Settings } from './context-settings.tsx';
import { MessageView } from './message-view.tsx';

/** The properties of the panel. */
export interface ContextPanelProps {
  readonly point: PointName;
  readonly index: EventIndex;
  /** The point that was pinned, on the same branch. */
  readonly pin: PointName | undefined;
  readonly onGo: (seq: number) => void;
  readonly onChange: ChangeThis | undefined;
}

/** The context of a model call: what it wrote, what was new, and the rest folded. */
export function ContextPanel({ point, index, pin, onGo, onChange }: ContextPanelProps): React.ReactNode {
  const { source } = useStudio();
  const [mode, setMode] = useState<'before' | 'pin'>('before');
  const against = mode === 'pin' ? pin : undefined;
  const key = contextKey(point, index, against);
  const { value, error, isStale, again } = useAnswer(key, (signal) => source.context(point, { against }, signal));
  if (error !== undefined) return <Failure error={error} onAgain={again} />;
  if (value === undefined) return <Reading />;
  return (
    <Fading isStale={isStale}>
      <ContextView
        point={point}
        answer={value.value}
        cuts={value.cuts}
        onGo={onGo}
        onChange={onChange}
        tools={
          pin === undefined ? undefined : (
            <span className="modes" role="group" aria-label="Compared with">
              {(['before', 'pin'] as const).map((each) => (
                <button
                  key={each}
                  type="button"
                  className="quiet"
                  aria-pressed={mode === each}
                  onClick={() => setMode(each)}
                >
                  {each === 'before' ? 'the call before' : `pin @${pin.seq}`}
                </button>
              ))}
            </span>
          )
        }
      />
    </Fading>
  );
}

interface ContextViewProps {
  readonly point: PointName;
  readonly answer: ContextAnswer;
  readonly cuts: readonly Cut[];
  readonly onGo: (seq: number) => void;
  readonly onChange: ChangeThis | undefined;
  readonly tools?: React.ReactNode;
}

/** The parts of a context in the order in which they are read. */
export function ContextView({ point, answer, cuts, onGo, onChange, tools }: ContextViewProps): React.ReactNode {
  const { call, against, counts, messages, dropped, total } = answer;
  const fresh = messages.filter(({ mark }) => mark !== 'same');
  const earlier = total - fresh.filter(({ mark }) => mark !== 'dropped').length;
  const isEmpty = total === 0 && answer.system.value === null && answer.tools.length === 0;
  if (isEmpty && call === null) return <Nothing>No model was asked anything up to here.</Nothing>;
  const read = readerOf(point, answer, useStudio().source);
  return (
    <div className="context">
      <Written answer={answer} onGo={onGo} onChange={onChange} />
      <div className="context-head">
        <h2>
          {headline(answer)}{' '}
          <span className="faint">
            ({countText(counts.new + counts.edited + dropped.length + changedSettings(answer))})
          </span>
        </h2>
        {tools}
      </div>
      {fresh.length === 0 && dropped.length === 0 && changedSettings(answer) === 0 ? (
        <p className="faint context-none">Nothing: every message was there before.</p>
      ) : null}
      <ul className="context-list">
        {fresh.map((message) => (
          <MessageRow
            key={`${message.index} ${message.mark}`}
            message={message}
            cuts={cuts}
            at={messages.indexOf(message)}
            read={read}
            onGo={onGo}
            onChange={onChange}
          />
        ))}
        {dropped.map((message) => (
          <MessageRow
            key={`dropped ${message.index}`}
            message={{ ...message, mark: 'dropped' }}
            cuts={cuts}
            at={-1}
            read={undefined}
            onGo={onGo}
            onChange={undefined}
          />
        ))}
      </ul>
      <ChangedSettings answer={answer} />
      <Earlier
        point={point}
        against={against === null ? undefined : against.ref}
        count={earlier}
        sizes={answer}
        onGo={onGo}
        onChange={onChange}
      />
      <Settings answer={answer} onChange={onChange} />
    </div>
  );
}

function headline({ call, against }: ContextAnswer): string {
  if (against === null) return call === null ? 'What the next call would be sent' : 'What it was sent: the first call';
  if (against.kind === 'unedited') return 'Different with these edits';
  const other = `@${against.ref.split('@').at(-1) ?? ''}`;
  return against.kind === 'call' ? `New since the call at ${other}` : `Different from ${other}`;
}

type Reader = ((path: string, offset: number) => Promise<string>) | undefined;

/** Returns a function that reads the rest of a string of a request; only a recorded call has one. */
function readerOf(point: PointName, { call }: ContextAnswer, source: ReturnType<typeof useStudio>['source']): Reader {
  if (call === null) return undefined;
  const at = { ...point, seq: call.seq };
  return async (path, offset) => (await source.text(at, path, offset, 0, new AbortController().signal)).text;
}

function Written({ answer, onGo, onChange }: Pick<ContextViewProps, 'answer' | 'onGo' | 'onChange'>): React.ReactNode {
  const { call } = answer;
  const streams = useCell(useStudio().streams);
  if (call === null) return null;
  const message = call.end === null ? undefined : call.end['message'];
  const error = call.end?.['error'];
  const streaming = streams.get(call.call);
  return (
    <section className="written" aria-label="What it wrote">
      <header>
        <span className="label">what it wrote</span>
        {call.endSeq === null ? null : <SeqLink seq={call.endSeq} onGo={onGo} />}
        <span className="spacer" />
        {onChange !== undefined && call.endSeq !== null && isMessage(message) ? (
          <button
            type="button"
            className="quiet"
            onClick={() => onChange({ kind: 'message', seq: call.endSeq ?? 0, message })}
          >
            ✎ change this
          </button>
        ) : null}
      </header>
      {isMessage(message) ? <MessageView message={message} /> : null}
      {error === undefined || error === null ? null : (
        <div className="written-error">
          <span className="color-error">✕</span> <JsonTree value={error} open={1} />
        </div>
      )}
      {call.end !== null ? null : streaming === undefined ? (
        <p className="dim">It has not ended.</p>
      ) : (
        <div className="dim" data-part="streaming">
          <RecordedText text={streaming} as="p" />
        </div>
      )}
    </section>
  );
}

const isMessage = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

interface MessageRowProps {
  readonly message: ContextMessage;
  readonly cuts: readonly Cut[];
  /** Its place in the answer. */
  readonly at: number;
  readonly read: Reader;
  readonly onGo: (seq: number) => void;
  readonly onChange: ChangeThis | undefined;
}

function MessageRow({ message: row, cuts, at, read, onGo, onChange }: MessageRowProps): React.ReactNode {
  const { mark, message, seq, role, size, was } = row;
  const [showsWas, setShowsWas] = useState(false);
  const { sign, word } = marks[mark];
  const more = {
    cuts,
    path: `/messages/${at}/message`,
    read:
      read === undefined
        ? undefined
        : (path: string, offset: number) => read(`/data/request/messages/${row.index}${path}`, offset),
  };
  return (
    <li className="context-row" data-mark={mark} data-role={role}>
      <span className="context-mark" title={word}>
        {sign}
        <span className="unseen">{word}</span>
      </span>
      <span className="context-role">{role}</span>
      <div className="context-body">
        {message === null ? (
          <p className="faint">▒ erased</p>
        ) : showsWas && was !== undefined ? (
          <WordDifference before={messageContent(was)} after={messageContent(message)} />
        ) : (
          <MessageView message={message} more={more} />
        )}
      </div>
      <span className="context-end">
        {was === undefined ? null : (
          <button type="button" className="quiet" aria-pressed={showsWas} onClick={() => setShowsWas(!showsWas)}>
            was
          </button>
        )}
        {onChange === undefined || message === null ? null : (
          <button
            type="button"
            className="quiet context-edit"
            title="Fork here with a different message"
            aria-label={`Change this ${role} message`}
            onClick={() => onChange({ kind: 'message', seq, message })}
          >
            ✎
          </button>
        )}
        <span className="faint mono context-size">{bytesText(size)}</span>
        <SeqLink seq={seq} onGo={onGo} />
      </span>
    </li>
  );
}

interface EarlierProps {
  readonly point: PointName;
  readonly against: string | undefined;
  readonly count: number;
  readonly sizes: ContextAnswer;
  readonly onGo: (seq: number) => void;
  readonly onChange: ChangeThis | undefined;
}

const earlierStep = 50;

/** The messages that were there before, newest first to be asked for. */
function Earlier({ point, count, sizes, onGo, onChange }: EarlierProps): React.ReactNode {
  const [isOpen, setOpen] = useState(false);
  if (count <= 0) return null;
  const size = sizes.sizes.user + sizes.sizes.assistant + sizes.sizes.results;
  return (
    <FoldSection title={`Earlier messages (${countText(count)})`} about={bytesText(size)} onOpen={() => setOpen(true)}>
      {isOpen ? <WholeList point={point} total={sizes.total} onGo={onGo} onChange={onChange} /> : null}
    </FoldSection>
  );
}

function WholeList({
  point,
  total,
  onGo,
  onChange,
}: Pick<EarlierProps, 'point' | 'onGo' | 'onChange'> & { readonly total: number }): React.ReactNode {
  const { source } = useStudio();
  const [from, setFrom] = useState(Math.max(0, total - earlierStep));
  const { value, error, again, isStale } = useAnswer(`whole ${refOf(point)} ${from}`, (signal) =>
    source.context(point, { offset: from, limit: Math.min(200, total - from) }, signal),
  );
  if (error !== undefined) return <Failure error={error} onAgain={again} />;
  if (value === undefined) return <Reading />;
  const read = readerOf(point, value.value, source);
  return (
    <Fading isStale={isStale}>
      {from > 0 ? (
        <button type="button" className="link context-more" onClick={() => setFrom(Math.max(0, from - earlierStep))}>
          {plural(from, 'earlier message')}
        </button>
      ) : null}
      <ul className="context-list">
        {value.value.messages.map((message, at) =>
          message.mark === 'same' || message.mark === 'erased' ? (
            <MessageRow
              key={message.index}
              message={message}
              cuts={value.cuts}
              at={at}
              read={read}
              onGo={onGo}
              onChange={onChange}
            />
          ) : null,
        )}
      </ul>
    </Fading>
  );
}
