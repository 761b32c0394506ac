import { useEffect, useRef } from 'react';
import { Cell } from '../parts/cell.ts';
import { KeptSetting } from '../parts/kept-setting.ts';

/** Something that can be done here, by key or by name. */
export interface Action {
  readonly id: string;
  readonly name: string;
  /** Keys such as `e`, `Shift+E`, `Mod+K`; `Mod` is ⌘ or Ctrl. */
  readonly keys: readonly string[];
  readonly group: 'Move' | 'Look' | 'Change' | 'Go' | 'Page';
  /** Undefined where it cannot be done; it is then not listed. */
  readonly run: (() => void) | undefined;
}

/** Returns actions as they are now. */
type ActionList = () => readonly Action[];

/** The actions of what is on screen: of the page, then of each screen and drawer above it. */
const layers = new Cell<readonly ActionList[]>([]);

/** Whether keys that are single letters act. */
export const lettersAct: KeptSetting<boolean> = new KeptSetting('letters', true);

/** Offers actions as long as the caller is on screen. */
export function useActions(actions: readonly Action[]): void {
  const latest = useRef(actions);
  latest.current = actions;
  useEffect(() => {
    const own: ActionList = () => latest.current;
    layers.set([...layers.value, own]);
    return () => layers.set(layers.value.filter((layer) => layer !== own));
  }, []);
}

/** Returns the actions that can be done now; one of a higher layer hides one with the same id or key below. */
export function currentActions(): readonly Action[] {
  const found = new Map<string, Action>();
  const keys = new Set<string>();
  for (const layer of [...layers.value].reverse())
    for (const action of layer()) {
      if (found.has(action.id) || action.run === undefined) continue;
      const free = action.keys.filter((key) => !keys.has(key));
      for (const key of free) keys.add(key);
      found.set(action.id, { ...action, keys: free });
    }
  return [...found.values()];
}

/** Writes the key of an event as actions name it. */
export function keyText(event: Pick<KeyboardEvent, 'key' | 'shiftKey' | 'ctrlKey' | 'metaKey' | 'altKey'>): string {
  const key = event.key === ' ' ? 'Space' : event.key.length === 1 ? event.key.toUpperCase() : event.key;
  const isLetter = /^[A-Z]$/.test(key) || key.length > 1;
  return [
    event.ctrlKey || event.metaKey ? 'Mod' : '',
    event.altKey ? 'Alt' : '',
    event.shiftKey && isLetter ? 'Shift' : '',
    key,
  ]
    .filter((part) => part !== '')
    .join('+');
}

/** Returns true if a key is typed into something, and must not act. */
function isTyped(event: KeyboardEvent): boolean {
  const target = event.composedPath()[0];
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}

/** Listens to keys as long as the page is there. */
export function listenToKeys(): () => void {
  const listen = (event: KeyboardEvent): void => {
    if (event.defaultPrevented) return;
    const text = keyText(event);
    const isModified = text.includes('Mod') || text === 'Escape';
    if (isTyped(event) && !isModified) return;
    if (/^(?:Shift\+)?[A-Z]$/.test(text) && !lettersAct.cell.value) return;
    // Buttons and tabs have their own use for these.
    if (
      (text === 'Space' || text === 'Enter') &&
      event.target instanceof HTMLElement &&
      event.target.closest('button,a,[role=tab],[role=menuitem]') !== null
    )
      return;
    if (
      text.startsWith('Arrow') &&
      event.target instanceof HTMLElement &&
      event.target.closest('[role=tablist],[role=menu],[role=separator],[role=treegrid],[data-own-keys]') !== null
    )
      return;
    const action = currentActions().find(({ keys }) => keys.includes(text));
    if (action?.run === undefined) return;
    event.preventDefault();
    action.run();
  };
  document.addEventListener('keydown', listen);
  return () => document.removeEventListener('keydown', listen);
}

const isMac = typeof navigator !== 'undefined' && /Mac|iPhone|iPad/.test(navigator.platform);

const signs: Readonly<Record<string, string>> = {
  Mod: isMac ? '⌘' : 'Ctrl+',
  Shift: '⇧',
  Alt: isMac ? '⌥' : 'Alt+',
  ArrowLeft: '←',
  ArrowRight: '→',
  ArrowUp: '↑',
  ArrowDown: '↓',
  Enter: '↵',
  Escape: 'Esc',
};

/** Writes a key for people: `⇧E`, `⌘K`. */
export const keySign = (key: string): string =>
  key
    .split('+')
    .map((part) => signs[part] ?? part)
    .join('');
