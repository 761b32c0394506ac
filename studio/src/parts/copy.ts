import { announce } from './announcer.ts';

/** Copies text, and says so. */
export function copyText(text: string, what: string): void {
  navigator.clipboard
    .writeText(text)
    .then(() => announce(`Copied ${what}`))
    .catch(() => announce(`Cannot copy ${what}: the browser does not allow it`));
}
