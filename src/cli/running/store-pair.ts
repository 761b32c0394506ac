import { realpathSync } from 'node:fs';
import { RepriseError } from '../../core/error.ts';
import { given } from '../../core/json.ts';
import type { Reprise } from '../../engine/reprise.ts';
import { type StoreLocation, shownUrl, storeLocation } from '../../node/store-location.ts';
import { openReprise } from '../../open-reprise.ts';
import { isSameStore } from '../../store/postgres/address.ts';
import type { Context } from '../context.ts';

/** Two stores: what is copied is only read, and its target is made if it is not there. */
export interface StorePair extends AsyncDisposable {
  readonly from: Reprise;
  readonly to: Reprise;
}

/** How to open two stores. */
export interface PairOptions {
  readonly from: string;
  readonly to: string;
  /** The namespace at the target, where it is another one. */
  readonly into?: string | undefined;
  /** Nothing is made: a target that is not there is as good as empty. */
  readonly dryRun: boolean;
}

/** Opens two stores, unless they are one. */
export async function openPair(context: Context, { from, to, into, dryRun }: PairOptions): Promise<StorePair> {
  if (context.storeUrl !== undefined)
    throw new RepriseError('option.invalid', 'Cannot copy with --store: both stores are named already', {
      hint: 'Leave --store out: reprise copy FROM TO.',
    });
  const [left, right] = [storeLocation(from), storeLocation(to)];
  checkPlaces(left, right);
  const { namespace } = context;
  if (isSame(left, right) && (into === undefined || into === (namespace ?? 'default')))
    throw new RepriseError('option.invalid', `Cannot copy ${shownUrl(left)} to itself`, {
      hint: 'Name another store, or another namespace of this one with --into.',
    });
  const wall = into ?? namespace;
  const source = await openSource(context, from, namespace);
  try {
    const target = await openTarget(context, to, wall, dryRun);
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

/** Nobody who names what to copy wants to hear that it could be created. */
async function openSource(context: Context, from: string, namespace: string | undefined): Promise<Reprise> {
  try {
    return await open(context, from, { readOnly: true, create: false }, namespace);
  } catch (error) {
    if (!(error instanceof RepriseError) || error.code !== 'store.not-found') throw error;
    const { code, message, details } = error;
    throw new RepriseError(code, message, {
      hint: 'The first store is the one to copy from: check its name.',
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
    if (!(error instanceof RepriseError) || error.code !== 'store.not-found') throw error;
    return await open(context, 'memory:', { create: true }, namespace);
  }
}

function checkPlaces(...places: readonly StoreLocation[]): void {
  if (places.every(({ kind }) => kind !== 'memory')) return;
  throw new RepriseError('option.invalid', 'Cannot copy with memory: what is there goes with the command', {
    hint: 'Name two stores that last: sqlite:PATH or postgres://….',
  });
}

/** Tells whether two locations are the same store, however they are written. */
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
