import { Dialog } from '@base-ui/react/dialog';
import { useEffect, useMemo, useRef, useState } from 'react';
import { parseRef, refText } from '../../../src/core/ref.ts';
import { type Address, runAddress } from '../address/address.ts';
import { useStudio } from '../frame/studio.ts';
import { useCell } from '../parts/cell.ts';
import { useAnswer } from '../parts/use-answer.ts';
import type { StudioBranch } from '../source/answers.ts';
import { useBranches } from '../tree/use-branches.ts';
import { type Action, currentActions, keySign } from './actions.ts';

interface Entry {
  readonly id: string;
  readonly name: string;
  readonly about: string;
  readonly run: () => void;
}

const shownMax = 60;

/** Everything by name: actions with their keys, sessions, branches of the session that is open, refs. */
export function Palette({
  text: first = '',
  onClose,
}: {
  /** The text it begins with. */
  readonly text?: string;
  readonly onClose: () => void;
}): React.ReactNode {
  const [text, setText] = useState(first);
  const [chosen, setChosen] = useState(0);
  const list = useRef<HTMLUListElement>(null);
  const isNarrowed = first !== '';
  const entries = useEntries().filter(({ id }) => !isNarrowed || id.startsWith('compare '));
  const ref = useRefEntry(text);
  const filter = useFilterEntry(text);
  const found = [
    ...(ref === undefined ? [] : [ref]),
    ...entries.filter(({ name, about }) => isFound(text, `${name} ${about}`)).slice(0, shownMax),
    ...(filter === undefined || isNarrowed ? [] : [filter]),
  ];
  useEffect(() => {
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' });
  }, [chosen]);
  const run = (entry: Entry | undefined): void => {
    onClose();
    entry?.run();
  };
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="float palette" aria-label="Everything by name">
          <input
            className="palette-input"
            role="combobox"
            aria-expanded="true"
            aria-controls="palette-list"
            aria-activedescendant={found[chosen] === undefined ? undefined : `palette-${chosen}`}
            aria-label="Go to, or do"
            placeholder="an action, a session, a branch, or a ref such as refund@14"
            value={text}
            onChange={(event) => {
              setText(event.target.value);
              setChosen(0);
            }}
            onKeyDown={(event) => {
              if (event.key === 'ArrowDown') setChosen(Math.min(found.length - 1, chosen + 1));
              else if (event.key === 'ArrowUp') setChosen(Math.max(0, chosen - 1));
              else if (event.key === 'Enter') run(found[chosen]);
              else return;
              event.preventDefault();
            }}
          />
          <ul ref={list} id="palette-list" className="palette-list" role="listbox" aria-label="Found">
            {found.map((entry, at) => (
              <li
                key={entry.id}
                id={`palette-${at}`}
                role="option"
                aria-selected={at === chosen}
                className="palette-item"
                onClick={() => run(entry)}
              >
                <span>{entry.name}</span>
                <span className="faint">{entry.about}</span>
              </li>
            ))}
          </ul>
          {found.length === 0 ? (
            <p className="palette-none dim">
              {isNarrowed && text === first ? 'There is no other branch to compare with.' : 'Nothing has that name.'}
            </p>
          ) : null}
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

/** Returns true if every word of a string is found. */
function isFound(text: string, name: string): boolean {
  const held = name.toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => held.includes(word));
}

/** The order of actions: those without a key to learn come first. */
const groups: readonly Action['group'][] = ['Change', 'Go', 'Page', 'Look', 'Move'];

function useEntries(): readonly Entry[] {
  const { bar, source, namespace } = useStudio();
  const address = useCell(bar.address);
  const session = 'session' in address ? address.session : undefined;
  const branches = useBranches(session ?? '', 0);
  const sessions = useAnswer('palette sessions', (signal) => source.sessions(namespace, {}, '', signal), {
    keep: false,
  });
  return useMemo(() => {
    const offered = currentActions()
      .filter(({ id }) => id !== 'palette')
      .toSorted((a, b) => groups.indexOf(a.group) - groups.indexOf(b.group));
    const actions = offered.map(({ id, name, keys, run }) => ({
      id,
      name,
      about: keys.map(keySign).join(' '),
      run: () => run?.(),
    }));
    const own = session === undefined ? [] : (branches.value ?? []);
    return [
      ...actions,
      ...own.map(({ branch, outcome }) => ({
        id: `branch ${branch}`,
        name: `branch ${branch}`,
        about: outcome ?? '',
        run: () => bar.go(runAddress(session ?? '', branch, 'head')),
      })),
      ...comparisons(address, own).map(({ branch, to }) => ({
        id: `compare ${branch}`,
        name: `compare with ${branch}`,
        about: 'branch',
        run: () => bar.go(to),
      })),
      ...(sessions.value?.items ?? []).map((row) => ({
        id: `session ${row.session}`,
        name: row.title ?? row.session,
        about: row.session,
        run: () => bar.go(runAddress(row.session, row.branch, row.activity.firstError ?? 'head')),
      })),
    ];
  }, [address, branches.value, sessions.value]);
}

/** Lists the comparisons of the branch that is open with each of the others. */
function comparisons(
  address: Address,
  branches: readonly Pick<StudioBranch, 'branch'>[],
): readonly { readonly branch: string; readonly to: Address }[] {
  if (address.screen !== 'run') return [];
  const { session } = address;
  return branches
    .filter(({ branch }) => branch !== address.branch)
    .map(({ branch }) => ({
      branch,
      to: runAddress(session, address.branch, 'head', { with: [refText({ session, branch, at: { kind: 'head' } })] }),
    }));
}

/** Offers to filter the list on screen by what was typed. */
function useFilterEntry(text: string): Entry | undefined {
  const { bar } = useStudio();
  const address = useCell(bar.address);
  const words = text.trim();
  if (words === '') return undefined;
  if (address.screen === 'sessions')
    return {
      id: 'filter sessions',
      name: `Filter the sessions: ${words}`,
      about: 'filter',
      run: () => bar.go({ screen: 'sessions', query: words }),
    };
  if (address.screen !== 'run' || address.with.length > 0) return undefined;
  return {
    id: 'filter events',
    name: `Filter the list: ${words}`,
    about: 'filter',
    run: () => bar.replace({ ...address, filter: words }),
  };
}

/** Offers to go to a ref that was typed. */
function useRefEntry(text: string): Entry | undefined {
  const { bar } = useStudio();
  if (!/[@/]/.test(text)) return undefined;
  try {
    const { session, branch } = parseRef(text.trim());
    const at = text.includes('@') ? text.trim().slice(text.trim().indexOf('@') + 1) : 'head';
    return {
      id: 'ref',
      name: `Go to ${text.trim()}`,
      about: 'ref',
      run: () => bar.go(runAddress(session, branch, at)),
    };
  } catch {
    return undefined;
  }
}
