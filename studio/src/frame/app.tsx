import { CSPProvider } from '@base-ui/react/csp-provider';
import { lazy, Suspense, useEffect, useState } from 'react';
import type { Address } from '../address/address.ts';
import { listenToKeys, useActions } from '../keys/actions.ts';
import { Palette } from '../keys/palette.tsx';
import { theme } from '../look/theme.ts';
import { useCell } from '../parts/cell.ts';
import { RunScreen } from '../run/run-screen.tsx';
import { openQuestions } from '../runs/open-questions.ts';
import { SessionsScreen } from '../sessions/sessions-screen.tsx';
import { Announcements } from './announcements.tsx';
import { AwayLine } from './away-line.tsx';
import { ScreenBoundary } from './screen-boundary.tsx';
import { useStudio } from './studio.ts';
import { TokenPage } from './token-page.tsx';
import { TopBar } from './top-bar.tsx';

const HelpSheet = lazy(async () => ({ default: (await import('../keys/help-sheet.tsx')).HelpSheet }));
const RunsScreen = lazy(async () => ({ default: (await import('../runs/runs-screen.tsx')).RunsScreen }));
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
  const [floating, setFloating] = useState<'palette' | 'compare' | 'help'>();
  useEffect(() => listenToKeys(), []);
  useTitle(address);
  useActions([
    { id: 'palette', name: 'Everything by name', keys: ['Mod+K'], group: 'Page', run: () => setFloating('palette') },
    {
      id: 'compare-with',
      name: 'Compare with…',
      keys: ['C'],
      group: 'Go',
      run: address.screen === 'run' && address.with.length === 0 ? () => setFloating('compare') : undefined,
    },
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
            {lock === undefined ? (
              <ScreenBoundary key={placeOf(address)}>
                <Screen address={address} />
              </ScreenBoundary>
            ) : (
              <TokenPage error={lock} />
            )}
          </Suspense>
        </main>
        <AwayLine />
        <Announcements />
        {floating === 'palette' ? <Palette onClose={close} /> : null}
        {floating === 'compare' ? <Palette text="compare with " onClose={close} /> : null}
        <Suspense>{floating === 'help' ? <HelpSheet onClose={close} /> : null}</Suspense>
      </div>
    </CSPProvider>
  );
}

/** Says in the tab where one is, and how many questions wait. */
function useTitle(address: Address): void {
  const runs = useCell(useStudio().runs);
  const waiting = openQuestions(runs);
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

/** Names what a screen shows, without the point: a screen that failed is drawn anew when this changes. */
const placeOf = (address: Address): string =>
  address.screen === 'run'
    ? JSON.stringify([address.session, address.branch, address.with])
    : 'session' in address
      ? JSON.stringify([address.screen, address.session])
      : address.screen;

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
