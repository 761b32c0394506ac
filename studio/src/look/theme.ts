import { Cell } from '../parts/cell.ts';
import { KeptSetting } from '../parts/kept-setting.ts';

/** The themes that can be chosen; `system` follows the machine. */
const themes = ['system', 'light', 'dark'] as const;

type ThemeName = (typeof themes)[number];

const chosen = new KeptSetting<string>('theme', 'system');
const dark = globalThis.matchMedia?.('(prefers-color-scheme: dark)');
const shown = new Cell<'light' | 'dark'>('light');

function apply(): void {
  const name = chosen.cell.value;
  const root = document.documentElement;
  if (name === 'light' || name === 'dark') root.dataset['theme'] = name;
  else delete root.dataset['theme'];
  shown.set(name === 'light' || name === 'dark' ? name : dark?.matches === true ? 'dark' : 'light');
}

/** The theme: what was chosen, and what is shown. */
export const theme = {
  chosen: chosen.cell,
  shown,
  choose: (name: ThemeName): void => {
    chosen.set(name);
    apply();
  },
  /** Goes to the next theme. */
  next: (): void => {
    const at = themes.findIndex((name) => name === chosen.cell.value);
    theme.choose(themes[(at + 1) % themes.length] ?? 'system');
  },
  /** Begins to follow the choice and the machine. */
  begin: (): void => {
    dark?.addEventListener('change', apply);
    apply();
  },
};
