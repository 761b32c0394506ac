import { realpathSync } from 'node:fs';
import { hasCode, RepriseError } from '../../core/error.ts';
import { given } from '../../core/json.ts';
import type { Reprise } from '../../engine/reprise.ts';
import { type StoreLocation, shownUrl, storeLocation } from '../../node/store-location.ts';
import { openReprise } from '../../open-reprise.ts';
import { isSameStore } from '../../store/postgres/address.ts';
import type { Context } from '../context.ts';

/** Two open stores: the source, which is only read, and the target, which is created if it does not exist. */
export interface StorePair extends AsyncDisposable {
  readonly from: Reprise;
  readonly to: Reprise;
}

/** How to open two stores. */
export interface PairOptions {
  readonly from: string;
  readonly to: string;
  /** The namespace at the target, if it is different. */
  readonly into?: string | undefined;
  /** Creates nothing: a target that does not exist counts as empty. */
  readonly dryRun: boolean;
}

/** Opens two stores; refuses if they are the same one. */
export async function openPair(context: Context, { from, to, into, dryRun }: PairOptions): Promise<StorePair> {
  if (context.storeUrl !== undefined)
    throw new RepriseError('option.invalid', 'Cannot use --store with copy: both stores are arguments', {
      hint: 'Leave out --store: reprise copy FROM TO',
    });
  const [left, right] = [storeLocation(from), storeLocation(to)];
  checkPlaces(left, right);
  const { namespace } = context;
  if (isSame(left, right) && (into === undefined || into === (namespace ?? 'default')))
    throw new RepriseError('option.invalid', `Cannot copy ${shownUrl(left)} to itself`, {
      hint: 'Choose a different store, or a different namespace with --into.',
    });
  const source = await openSource(context, from, namespace);
  try {
    const target = await openTarget(context, to, into ?? namespace, dryRun);
    const close = async (): Promise<void> => {
      await Promise.all([source.close(), target.close()]);
    };
    return { from: source, to: target, [Symbol.asyncDispose]: close };
  } catch (error) {
    await source.close();
    throw error;
  }
}

function open(
  context: Context,
  store: string,
  how: { readonly readOnly?: boolean; readonly create: boolean },
  namespace: string | undefined,
): Promise<Reprise> {
  return context.patient(openReprise({ store, config: false, ...how, ...given({ namespace }) }));
}

/** Opens the source; if it does not exist, the hint must not suggest creating it. */
async function openSource(context: Context, from: string, namespace: string | undefined): Promise<Reprise> {
  try {
    return await open(context, from, { readOnly: true, create: false }, namespace);
  } catch (error) {
    if (!hasCode(error, 'store.not-found')) throw error;
    const { code, message, details } = error;
    throw new RepriseError(code, message, {
      hint: 'Check the first argument: it is the store to copy from.',
      details,
      cause: error,
    });
  }
}

async function openTarget(
  context: Context,
  to: string,
  namespace: string | undefined,
  dryRun: boolean,
): Promise<Reprise> {
  if (!dryRun) return await open(context, to, { create: true }, namespace);
  try {
    return await open(context, to, { readOnly: true, create: false }, namespace);
  } catch (error) {
    if (!hasCode(error, 'store.not-found')) throw error;
    return await open(context, 'memory:', { create: true }, namespace);
  }
}

function checkPlaces(...places: readonly StoreLocation[]): void {
  if (places.every(({ kind }) => kind !== 'memory')) return;
  throw new RepriseError('option.invalid', 'Cannot copy with "memory:": that store ends with the command', {
    hint: 'Use sqlite:PATH or postgres://… for both stores.',
  });
}

/** Returns true if two locations are the same store, however they are written. */
function isSame(left: StoreLocation, right: StoreLocation): boolean {
  if (left.kind === 'postgres' && right.kind === 'postgres') return isSameStore(left.url, right.url);
  return left.kind === 'sqlite' && right.kind === 'sqlite' && realPath(left.path) === realPath(right.path);
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
