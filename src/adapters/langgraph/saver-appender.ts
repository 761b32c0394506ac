import { BoundedMap } from '../../core/bounded-map.ts';
import type { EventDraft } from '../../core/event/event.ts';
import { checkKeys, type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import type { Masker } from '../../core/masking/masking.ts';
import type { AppendOptions, SessionLog } from '../../core/session/session-log.ts';
import { maskedDraft } from './masked-draft.ts';
import type { SaverIndex } from './saver-index.ts';

/** Options of a saver. */
export interface RepriseSaverOptions {
  /**
   * Whether the saver masks secrets in checkpoints, by the rules of the store; false if left out. A graph that continues
   * from a checkpoint gets the masks, not the secrets: see docs/guides/masking.md.
   */
  readonly masks?: boolean;
}

const saverKeys: KnownKeys = optionKeys<RepriseSaverOptions>('make a saver', { masks: true }, 'a saver');

/** How many maskers are kept, one per thread. */
const maskersMax = 64;

/** Appends the events of a saver, masked if the saver masks. */
export class SaverAppender {
  readonly #masks: boolean;
  readonly #maskers = new BoundedMap<string, Masker>(maskersMax);

  constructor(options: RepriseSaverOptions) {
    checkKeys(options, saverKeys);
    this.#masks = options.masks === true;
  }

  /** Appends events and notes them in the index. */
  async append(
    index: SaverIndex,
    drafts: readonly EventDraft[],
    { branch, ...options }: AppendOptions & { readonly branch: string },
  ): Promise<void> {
    const { session } = index;
    const mask = this.#masks ? await this.#masker(session) : undefined;
    const events = mask === undefined ? drafts : drafts.map((draft) => maskedDraft(draft, mask));
    index.note(await session.branch(branch).append(events, options));
  }

  async #masker(session: SessionLog): Promise<Masker> {
    const masker = this.#maskers.get(session.id) ?? (await session.masker());
    this.#maskers.set(session.id, masker);
    return masker;
  }
}
