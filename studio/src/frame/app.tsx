import { CSPProvider } from '@base-ui/react/csp-provider';
import { lazy, Suspense, useEffect, useState } from 'react';
import type { Address } from '../address/address.ts';
import { listenToKeys, useActions } from '../keys/actions.ts';
import { HelpSheet } from '../keys/help-sheet.tsx';
import { Palette } from '../keys/palette.tsx';
import { theme } from '../look/theme.ts';
import { useCell } from '../parts/cell.ts';
import { RunScreen } from '../run/run-screen.tsx';
import { RunsScreen } from '../runs/runs-screen.tsx';
import { SessionsScreen } from '../sessions/sessions-screen.tsx';
import { Announcements } from './announcements.tsx';
import { AwayLine } from './away-line.tsx';
import { useStudio } from './studio.ts';
import { TokenPage } from './token-page.tsx';
import { TopBar } from './top-bar.tsx';

const CompareScreen = lazy(async () => ({ default: (await import('../compare/compare-screen.tsx')).CompareScreen }));
const TreeScreen = lazy(async () => ({ default: (await import('../tree/tree-screen.tsx')).TreeScreen }));
const ExperimentScreen = lazy(async () => ({
  default: (await import('../tree/experiment-screen.tsx')).ExperimentScreen,
}));
const StoreScreen = lazy(async () => ({ default: (await import('../sessions/store-screen.tsx')).StoreScreen }));

/** The whole page: the bar, the screen that the address names, and what floats above it. */
export function App(): React.ReactNode {
  const { bar, locked } = useStudio();
  const lock = useCell(locked);
  const address = useCell(bar.address);
  const [floating, setFloating] = useState<'palette' | 'help'>();
  useEffect(() => listenToKeys(), []);
  useTitle(address);
  useActions([
    { id: 'palette', name: 'Everything by name', keys: ['Mod+K'], group: 'Page', run: () => setFloating('palette') },
    { id: 'help', name: 'Keys and help', keys: ['?'], group: 'Page', run: () => setFloating('help') },
    { id: 'theme', name: 'Next theme: system, light, dark', keys: [], group: 'Page', run: theme.next },
    { id: 'sessions', name: 'Sessions', keys: [], group: 'Go', run: () => bar.go({ screen: 'sessions', query: '' }) },
    { id: 'runs', name: 'Runs and questions', keys: [], group: 'Go', run: () => bar.go({ screen: 'runs' }) },
    { id: 'store', name: 'Health of the store', keys: [], group: 'Go', run: () => bar.go({ screen: 'store' }) },
    { id: 'back', name: 'Back', keys: ['Escape'], group: 'Page', run: () => leave(address, bar.go) },
  ]);
  const close = (): void => setFloating(undefined);
  return (
    <CSPProvider disableStyleElements>
      <div className="app">
        <TopBar address={address} onPalette={() => setFloating('palette')} onHelp={() => setFloating('help')} />
        <main className="main">
          <Suspense fallback={<div className="screen" />}>
            {lock === undefined ? <Screen address={address} /> : <TokenPage error={lock} />}
          </Suspense>
        </main>
        <AwayLine />
        <Announcements />
        {floating === 'palette' ? <Palette onClose={close} /> : null}
        {floating === 'help' ? <HelpSheet onClose={close} /> : null}
      </div>
    </CSPProvider>
  );
}

/** Says in the tab where one is, and how many questions wait. */
function useTitle(address: Address): void {
  const runs = useCell(useStudio().runs);
  const waiting = runs.reduce(
    (sum, run) => sum + (run.endedAt === null ? run.questions.filter(({ answer }) => answer === null).length : 0),
    0,
  );
  const place =
    address.screen === 'run'
      ? `${address.branch}@${address.at} ${address.session}`
      : 'session' in address
        ? `${address.screen} ${address.session}`
        : address.screen;
  useEffect(() => {
    document.title = `${waiting > 0 ? `(${waiting}) ` : ''}${place} · Reprise`;
  }, [waiting, place]);
}

function Screen({ address }: { readonly address: Address }): React.ReactNode {
  switch (address.screen) {
    case 'sessions':
      return <SessionsScreen query={address.query} />;
    case 'run':
      return address.with.length > 0 ? <CompareScreen address={address} /> : <RunScreen address={address} />;
    case 'tree':
      return <TreeScreen session={address.session} branch={address.branch} />;
    case 'experiment':
      return <ExperimentScreen session={address.session} id={address.id} />;
    case 'runs':
      return <RunsScreen />;
    case 'store':
      return <StoreScreen />;
  }
}

/** Leaves a screen for the one above it: a comparison for its left side, a run for the sessions. */
function leave(address: Address, go: (address: Address) => void): void {
  if (address.screen === 'run' && address.filter !== '' && address.with.length === 0) go({ ...address, filter: '' });
  else if (address.screen === 'run' && address.with.length > 0) go({ ...address, with: [], difference: undefined });
  else if (address.screen !== 'sessions') go({ screen: 'sessions', query: '' });
}
