import type { Event } from '../event/event.ts';
import { type JsonValue, stringAt } from '../json.ts';
import { limits } from '../limits.ts';
import type { Seq } from '../point.ts';
import { applyDiff, type FileLines, linesOf } from './unified-diff.ts';

/** A fault that was found while a file was rebuilt. */
export interface PatchFault {
  readonly seq: Seq;
  readonly reason: string;
}

/** A file as its patches leave it. Where no content was recorded and none can be rebuilt, it is `unknown`, not guessed. */
export type PatchedFile = {
  readonly path: string;
  readonly patches: readonly Seq[];
  readonly faults: readonly PatchFault[];
} & (
  | { readonly status: 'known'; readonly content: string }
  | { readonly status: 'removed' }
  | { readonly status: 'unknown'; readonly reason: string }
);

/** The state of a file while its patches are applied. */
type Held =
  | { readonly kind: 'content'; readonly lines: FileLines }
  | { readonly kind: 'unknown'; readonly reason: string };

/** Rebuilds one file from its patches, in the order of the view. */
export class FileRebuild {
  readonly #path: string;
  readonly #patches: Seq[] = [];
  readonly #faults: PatchFault[] = [];
  #held: Held = { kind: 'unknown', reason: 'no content of it was recorded' };

  constructor(path: string) {
    this.#path = path;
  }

  /** Applies one `file.patched`. */
  apply({ seq, data, erased }: Event): void {
    this.#patches.push(seq);
    if (erased === true) return this.#lose(seq, 'the payload of a patch was erased');
    const [before, after] = [contentIn(data['before']), contentIn(data['after'])];
    if (before !== undefined) this.#start(seq, before);
    const diff = stringAt(data, 'patch') ?? '';
    const isPatched = diff !== '' && this.#patch(seq, diff);
    if (after !== undefined) this.#end(seq, after, isPatched);
    else if (diff === '') this.#lose(seq, 'a change was recorded without its content');
  }

  #start(seq: Seq, before: string | null): void {
    const held = this.#held;
    if (held.kind === 'content' && textOf(held.lines) !== before)
      this.#faults.push({
        seq,
        reason: 'the recorded content before the patch is not what the patches before it give',
      });
    this.#held = { kind: 'content', lines: before === null ? null : linesOf(before) };
  }

  /** Applies a diff; returns whether it gave a content. */
  #patch(seq: Seq, diff: string): boolean {
    const held = this.#held;
    // A diff against nothing creates the file, so it needs no base.
    const isNew = /^--- \/dev\/null\b/m.test(diff);
    if (held.kind === 'unknown' && !isNew) return false;
    const patched = applyDiff(held.kind === 'unknown' ? null : held.lines, diff);
    if ('fault' in patched) {
      this.#faults.push({ seq, reason: `the patch does not apply: ${patched.fault}` });
      this.#lose(seq, 'a patch does not apply');
      return false;
    }
    if (sizeOf(patched.lines) > limits.patchedFileMax) this.#lose(seq, 'it is larger than patchedFileMax');
    else this.#held = { kind: 'content', lines: patched.lines };
    return true;
  }

  #end(seq: Seq, after: string | null, isPatched: boolean): void {
    const held = this.#held;
    if (isPatched && held.kind === 'content' && textOf(held.lines) !== after)
      this.#faults.push({ seq, reason: 'the recorded content after the patch is not what the patch gives' });
    this.#held = { kind: 'content', lines: after === null ? null : linesOf(after) };
  }

  #lose(seq: Seq, reason: string): void {
    this.#held = { kind: 'unknown', reason: `${reason} (seq ${seq})` };
  }

  /** Returns the file as it is now. */
  finish(): PatchedFile {
    const about = { path: this.#path, patches: this.#patches, faults: this.#faults };
    const held = this.#held;
    if (held.kind === 'unknown') return { ...about, status: 'unknown', reason: held.reason };
    const content = textOf(held.lines);
    return content === null ? { ...about, status: 'removed' } : { ...about, status: 'known', content };
  }
}

const textOf = (lines: FileLines): string | null => (lines === null ? null : lines.join(''));

const sizeOf = (lines: FileLines): number => (lines ?? []).reduce((sum, line) => sum + line.length, 0);

/** Returns a recorded content: a string, or null for no file; undefined if none was recorded. */
function contentIn(value: JsonValue | undefined): string | null | undefined {
  return typeof value === 'string' || value === null ? value : undefined;
}
