import { isArray, isObject, type JsonObject } from '../../../src/core/json.ts';
import { costText, countText, durationText } from '../../../src/wording/amount.ts';
import type { EventIndex } from '../history/event-index.ts';
import { FoldSection } from '../parts/fold-section.tsx';
import { JsonTree } from '../parts/json-tree.tsx';
import { RecordedText } from '../parts/recorded-text.tsx';
import { SeqLink } from '../parts/seq-link.tsx';
import { Fading, Failure, Nothing, Reading } from '../parts/states.tsx';
import type { PointName } from '../source/studio-source.ts';
import type { ChangeThis } from './change-this.ts';
import { MessageView, Value } from './message-view.tsx';
import { useEvents } from './use-events.ts';

/** The properties of the panel. */
export interface AnswerPanelProps {
  readonly index: EventIndex;
  readonly point: PointName;
  readonly onGo: (seq: number) => void;
  readonly onChange: ChangeThis | undefined;
}

/** The answer of a call: what came back, how it ended, and the raw body if it was kept. */
export function AnswerPanel({ index, point, onGo, onChange }: AnswerPanelProps): React.ReactNode {
  const start = index.callOf(point.seq);
  const end = start === undefined ? undefined : index.endOf(start);
  const { value, error, isStale, again } = useEvents(
    point,
    start === undefined ? [point.seq] : end === undefined ? [start] : [start, end],
  );
  if (point.seq === 0) return <Nothing>The beginning: nothing has happened.</Nothing>;
  if (error !== undefined) return <Failure error={error} onAgain={again} />;
  if (value === undefined) return <Reading />;
  const [first, last] = value;
  if (start === undefined)
    return (
      <Fading isStale={isStale}>
        <EventData data={first?.value.data ?? {}} />
      </Fading>
    );
  if (end === undefined || last === undefined)
    return (
      <Nothing>This call has not ended{index.head > point.seq ? ': nobody knows whether it happened' : ''}.</Nothing>
    );
  return (
    <Fading isStale={isStale}>
      <CallEnd
        asked={first?.value.data ?? {}}
        data={last.value.data}
        tookMs={index.number('latencyMs', end)}
        seq={end}
        onGo={onGo}
        onChange={onChange}
      />
    </Fading>
  );
}

/** The data of an event that is no call, with its message as a message. */
function EventData({ data }: { readonly data: JsonObject }): React.ReactNode {
  const { message, ...rest } = data;
  return (
    <div className="answer">
      {isObject(message) ? <MessageView message={message} /> : null}
      {Object.keys(rest).length === 0 ? null : <JsonTree value={rest} open={2} />}
    </div>
  );
}

interface CallEndProps {
  readonly asked: JsonObject;
  readonly data: JsonObject;
  /** As the list and the strip say it. */
  readonly tookMs: number | undefined;
  readonly seq: number;
  readonly onGo: (seq: number) => void;
  readonly onChange: ChangeThis | undefined;
}

function CallEnd({ asked, data, tookMs, seq, onGo, onChange }: CallEndProps): React.ReactNode {
  const { message, output, error, response, retries, usage } = data;
  return (
    <div className="answer">
      <dl className="facts-line">
        <Fact name="ended">
          <RecordedText text={String(data['outcome'] ?? 'unknown')} />
        </Fact>
        {typeof data['finishReason'] === 'string' ? <Fact name="because">{data['finishReason']}</Fact> : null}
        {tookMs === undefined ? null : <Fact name="took">{durationText(tookMs)}</Fact>}
        {isObject(usage) ? <Fact name="tokens">{tokensText(usage)}</Fact> : null}
        {typeof data['cost'] === 'number' ? <Fact name="cost">{costText(data['cost'])}</Fact> : null}
        {data['reused'] === true ? <Fact name="from">the record: it was not made again</Fact> : null}
        {data['simulated'] === true ? <Fact name="from">a simulation: it was not made</Fact> : null}
      </dl>
      {asked['input'] === undefined ? null : (
        <Section
          name="Asked"
          action={
            onChange === undefined
              ? undefined
              : () => onChange({ kind: 'toolInput', call: seq, input: asked['input'] ?? null })
          }
        >
          <Value value={asked['input']} />
        </Section>
      )}
      {error === undefined || error === null ? null : (
        <Section name="Failed with">
          <JsonTree value={error} open={2} />
        </Section>
      )}
      {isObject(message) ? (
        <Section
          name="Wrote"
          seq={seq}
          onGo={onGo}
          action={onChange === undefined ? undefined : () => onChange({ kind: 'message', seq, message })}
        >
          <MessageView message={message} />
        </Section>
      ) : null}
      {output === undefined ? null : (
        <Section
          name="Returned"
          seq={seq}
          onGo={onGo}
          action={onChange === undefined ? undefined : () => onChange({ kind: 'toolResult', call: seq, output })}
        >
          {typeof output === 'string' ? <RecordedText text={output} as="pre" /> : <JsonTree value={output} open={2} />}
        </Section>
      )}
      {isArray(retries) && retries.length > 0 ? (
        <FoldSection title={`Retries (${retries.length})`}>
          <JsonTree value={retries} open={1} />
        </FoldSection>
      ) : null}
      {response === undefined ? null : (
        <FoldSection title="Raw body">
          <JsonTree value={response} open={1} />
        </FoldSection>
      )}
    </div>
  );
}

const countIn = (usage: JsonObject, key: string): number => (typeof usage[key] === 'number' ? usage[key] : 0);

function tokensText(usage: JsonObject): string {
  const cached = countIn(usage, 'cachedInputTokens');
  const words = `${countText(countIn(usage, 'inputTokens'))} in, ${countText(countIn(usage, 'outputTokens'))} out`;
  return cached > 0 ? `${words}, ${countText(cached)} cached` : words;
}

function Fact({ name, children }: { readonly name: string; readonly children: React.ReactNode }): React.ReactNode {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

interface SectionProps {
  readonly name: string;
  readonly seq?: number;
  readonly onGo?: (seq: number) => void;
  readonly action?: (() => void) | undefined;
  readonly children: React.ReactNode;
}

function Section({ name, seq, onGo, action, children }: SectionProps): React.ReactNode {
  return (
    <section className="answer-part">
      <header>
        <h2>{name}</h2>
        {seq === undefined || onGo === undefined ? null : <SeqLink seq={seq} onGo={onGo} />}
        <span className="spacer" />
        {action === undefined ? null : (
          <button type="button" className="quiet" onClick={action}>
            ✎ change this
          </button>
        )}
      </header>
      {children}
    </section>
  );
}
