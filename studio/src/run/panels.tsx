import { Tabs } from '@base-ui/react/tabs';
import { lazy, Suspense } from 'react';
import { type Panel, panels, type RunAddress } from '../address/address.ts';
import type { EventIndex } from '../history/event-index.ts';
import { rowName } from '../list/event-list.tsx';
import { lookOf } from '../look/glyphs.ts';
import type { ChangeThis } from '../panels/change-this.ts';
import { ContextPanel } from '../panels/context-panel.tsx';
import { useCell } from '../parts/cell.ts';
import { KeptSetting } from '../parts/kept-setting.ts';
import { Split } from '../parts/split.tsx';
import { useWidth } from '../parts/use-width.ts';
import type { PointName } from '../source/studio-source.ts';

// The first view is the context; what is opened later is loaded later.
const AnswerPanel = lazy(async () => ({ default: (await import('../panels/answer-panel.tsx')).AnswerPanel }));
const KnewPanel = lazy(async () => ({ default: (await import('../panels/knew-panel.tsx')).KnewPanel }));
const WhyPanel = lazy(async () => ({ default: (await import('../panels/why-panel.tsx')).WhyPanel }));
const RawPanel = lazy(async () => ({ default: (await import('../panels/raw-panel.tsx')).RawPanel }));

/** The properties of the panels. */
export interface PanelsProps {
  readonly address: RunAddress;
  readonly point: PointName;
  readonly pin: PointName | undefined;
  readonly index: EventIndex;
  readonly head: number;
  readonly onPanel: (panel: Panel) => void;
  readonly onGo: (seq: number) => void;
  readonly onChange: ChangeThis | undefined;
  readonly onForkAt: ((seq: number) => void) | undefined;
  readonly onTicks: (seqs: readonly number[]) => void;
}

const names: Readonly<Record<Panel, string>> = {
  context: 'Context',
  answer: 'Answer',
  knew: 'Knew',
  why: 'Why',
  raw: 'Raw',
};

/** The width from which two panels have room side by side. */
const besideMin = 900;
const isKnewBeside = new KeptSetting<boolean>('knew-beside', true);

/** The panels of the selected point. Where there is room, *Knew* is shown next to *Context*. */
export function Panels(props: PanelsProps): React.ReactNode {
  const { address, point, index } = props;
  const look = lookOf(index.word('type', point.seq), index.word('kind', point.seq));
  const [box, width] = useWidth<HTMLDivElement>();
  const wantsBeside = useCell(isKnewBeside.cell);
  const isWide = width >= besideMin && address.panel === 'context';
  return (
    <Tabs.Root
      ref={box}
      className="panels"
      value={address.panel}
      onValueChange={(value: Panel) => props.onPanel(value)}
    >
      <div className="panels-head">
        <Tabs.List className="tabs" aria-label="Panels">
          {panels.map((panel, at) => (
            <Tabs.Tab key={panel} value={panel} className="tab" title={`${names[panel]}, key ${at + 1}`}>
              {names[panel]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {isWide ? (
          <button
            type="button"
            className="quiet"
            aria-pressed={wantsBeside}
            onClick={() => isKnewBeside.set(!wantsBeside)}
          >
            Knew beside
          </button>
        ) : null}
        <h1 className="panels-about">
          <span className={`color-${look.hue}`}>{look.glyph}</span>{' '}
          {point.seq === 0 ? 'the beginning' : index.has(point.seq) ? nameOf(look.word, rowName(index, point.seq)) : ''}{' '}
          <span className="faint mono">@{point.seq}</span>
        </h1>
      </div>
      {panels.map((panel) => (
        <Tabs.Panel key={panel} value={panel} className="panel" data-part="panel">
          {panel !== address.panel ? null : isWide && wantsBeside ? (
            <Split name="beside" label="Width of Knew" initial={440} min={280} max={720} side="end">
              <div className="beside">
                <PanelBody {...props} panel="context" />
              </div>
              <section className="beside" aria-label="Knew">
                <PanelBody {...props} panel="knew" />
              </section>
            </Split>
          ) : (
            <PanelBody {...props} panel={panel} />
          )}
        </Tabs.Panel>
      ))}
    </Tabs.Root>
  );
}

/** Returns the kind and the name of an event, and only the name if it says the kind. */
const nameOf = (kind: string, name: string): string => (name.startsWith(kind) ? name : `${kind} ${name}`);

function PanelBody(props: PanelsProps & { readonly panel: Panel }): React.ReactNode {
  return (
    <Suspense>
      <PanelContent {...props} />
    </Suspense>
  );
}

function PanelContent({
  panel,
  point,
  pin,
  index,
  head,
  onGo,
  onChange,
  onForkAt,
  onTicks,
}: PanelsProps & { readonly panel: Panel }): React.ReactNode {
  switch (panel) {
    case 'context':
      return <ContextPanel point={point} index={index} pin={pin} onGo={onGo} onChange={onChange} />;
    case 'answer':
      return <AnswerPanel index={index} point={point} onGo={onGo} onChange={onChange} />;
    case 'knew':
      return (
        <KnewPanel
          point={point}
          pin={pin}
          agents={index.words('agent')}
          onGo={onGo}
          onChange={onChange}
          onTicks={onTicks}
        />
      );
    case 'why':
      return <WhyPanel point={point} head={head} onGo={onGo} onForkAt={onForkAt} />;
    case 'raw':
      return <RawPanel point={point} />;
  }
}
