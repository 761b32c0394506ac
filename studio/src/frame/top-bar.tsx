import { Menu } from '@base-ui/react/menu';
import { useState } from 'react';
import { plural } from '../../../src/wording/amount.ts';
import type { Address } from '../address/address.ts';
import { runAddress } from '../address/address.ts';
import { keySign } from '../keys/actions.ts';
import { Icon } from '../look/icon.tsx';
import { theme } from '../look/theme.ts';
import { useCell } from '../parts/cell.ts';
import { RecordedText } from '../parts/recorded-text.tsx';
import { openQuestions } from '../runs/open-questions.ts';
import { useBranches } from '../tree/use-branches.ts';
import { ShareButton } from './share.tsx';
import { useStudio } from './studio.ts';

/** The properties of the bar. */
export interface TopBarProps {
  readonly address: Address;
  readonly onPalette: () => void;
  readonly onHelp: () => void;
}

/** The bar on top: where one is, the way to everything by name, what is live, help and theme. */
export function TopBar({ address, onPalette, onHelp }: TopBarProps): React.ReactNode {
  const { bar, rights, away, runs } = useStudio();
  const { live, append } = useCell(rights);
  const isAway = useCell(away) !== undefined;
  const all = useCell(runs);
  const open = all.filter((run) => run.endedAt === null).length;
  const questions = openQuestions(all);
  const chosen = useCell(theme.chosen);
  const home: Address = { screen: 'sessions', query: '' };
  return (
    <nav className="bar" aria-label="Studio">
      <a
        className="bar-home"
        href={bar.href(home)}
        aria-label="Reprise, all sessions"
        onClick={(event) => {
          event.preventDefault();
          bar.go(home);
        }}
      >
        <Logo />
        <span className="bar-name">Reprise</span>
      </a>
      <Place address={address} />
      <button type="button" className="bar-find" onClick={onPalette}>
        <Icon name="find" /> go to, filter, do… <kbd className="key">{keySign('Mod+K')}</kbd>
      </button>
      <span className="spacer" />
      {open + questions > 0 ? (
        <button type="button" className="quiet" onClick={() => bar.go({ screen: 'runs' })}>
          {open > 0 ? <span className="pulse" aria-hidden="true" /> : <span className="color-person">☺</span>}{' '}
          {[...(open > 0 ? [`${open} running`] : []), ...(questions > 0 ? [plural(questions, 'question')] : [])].join(
            ', ',
          )}
        </button>
      ) : null}
      {live ? (
        <span className="bar-live" data-away={isAway || undefined}>
          {isAway ? '○ away' : '● live'}
        </span>
      ) : null}
      {live && !append ? <span className="chip">read-only</span> : null}
      <ShareButton address={address} />
      <button type="button" className="quiet" aria-label="Keys and help" title="Keys and help (?)" onClick={onHelp}>
        ?
      </button>
      <button
        type="button"
        className="quiet"
        aria-label={`Theme: ${chosen}`}
        title={`Theme: ${chosen}`}
        onClick={theme.next}
      >
        {chosen === 'light' ? '○' : chosen === 'dark' ? '●' : '◐'}
      </button>
    </nav>
  );
}

function Logo(): React.ReactNode {
  return (
    <svg viewBox="0 0 20 20" width="18" height="18" aria-hidden="true" className="bar-logo">
      <path d="M3 4v12M6 10l7-6v12zM17 4v12" />
    </svg>
  );
}

function Place({ address }: { readonly address: Address }): React.ReactNode {
  const { bar, namespace } = useStudio();
  if (!('session' in address))
    return (
      <span className="bar-place">{address.screen === 'sessions' ? `${namespace} / sessions` : address.screen}</span>
    );
  const { session } = address;
  return (
    <span className="bar-place">
      <span className="faint">{namespace} /</span>
      <strong className="bar-session">
        <RecordedText text={session} />
      </strong>
      <BranchMenu
        session={session}
        branch={'branch' in address ? address.branch : undefined}
        onBranch={(branch) => bar.go(runAddress(session, branch, 'head'))}
        onTree={() => bar.go({ screen: 'tree', session, branch: undefined })}
      />
    </span>
  );
}

interface BranchMenuProps {
  readonly session: string;
  readonly branch: string | undefined;
  readonly onBranch: (branch: string) => void;
  readonly onTree: () => void;
}

const listedMax = 30;

function BranchMenu({ session, branch, onBranch, onTree }: BranchMenuProps): React.ReactNode {
  const [opened, setOpened] = useState(0);
  const runs = useCell(useStudio().runs).filter((run) => run.session === session).length;
  const { value } = useBranches(session, `${branch ?? ''} ${runs} ${opened}`);
  const count = value?.length ?? 0;
  return (
    <Menu.Root onOpenChange={(isOpen) => (isOpen ? setOpened(opened + 1) : undefined)}>
      <Menu.Trigger className="quiet bar-branch">
        <Icon name="fork" /> {branch ?? 'tree'} ▾ {count > 1 ? <span className="faint">{count} branches</span> : null}
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner sideOffset={4} className="float-place">
          <Menu.Popup className="float menu">
            {value?.slice(0, listedMax).map((each) => (
              <Menu.Item key={each.branch} className="menu-item" onClick={() => onBranch(each.branch)}>
                <span data-depth={Math.min(each.depth, 6)} className="menu-indent" />
                {each.branch} <span className="faint">{each.outcome ?? ''}</span>
              </Menu.Item>
            ))}
            <Menu.Item className="menu-item" onClick={onTree}>
              all branches as a tree <kbd className="key">T</kbd>
            </Menu.Item>
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}
