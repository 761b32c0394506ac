import { RepriseError } from '../../core/error.ts';
import { given } from '../../core/json.ts';
import { type Engine, emptyMemory, sessionRef } from '../context/engine.ts';
import { copySession } from '../copying/copy-session.ts';
import type { Imported, ImportOptions } from '../importing/import-options.ts';
import type { BundleManifest } from './bundle-manifest.ts';
import { loadBundle } from './load-bundle.ts';

/** Imports a bundle: a copy of its session, with the same ids, digests and fingerprints. */
export async function importBundle(engine: Engine, path: string, options: ImportOptions): Promise<Imported> {
  refuseOptions(path, options);
  const store = await engine.bundles.openScratch(engine.platform);
  const scratch: Engine = { ...engine, store, ...emptyMemory() };
  try {
    const { manifest } = await loadBundle(engine.bundles, scratch, path);
    await refuseRedacting(engine, path, manifest);
    const { id } = manifest.session;
    const { outcome, written, branches } = await copySession(scratch, engine, id, given({ signal: options.signal }));
    return {
      session: id,
      format: 'bundle',
      path,
      outcome: outcome === 'copied' ? 'imported' : outcome === 'unchanged' ? 'unchanged' : 'extended',
      branches: branches.map(({ branch }) => branch),
      events: written,
      units: written,
      kept: 0,
      bytes: manifest.files.reduce((sum, { bytes }) => sum + bytes, 0),
      ...movedHeads(manifest),
      secrets: {},
    };
  } finally {
    await store.close();
  }
}

/** Warns that the branches of a redacted bundle end after the heads of its source: the erasures come on top. */
function movedHeads({ redacted, branches }: BundleManifest): Pick<Imported, 'warnings' | 'warningCount'> {
  const heads = new Map(branches.map(({ name, head }) => [name, head]));
  const warnings = (redacted?.heads ?? [])
    .filter(({ branch, seq }) => heads.get(branch) !== seq)
    .map(({ branch, seq }) => ({
      file: '',
      at: 0,
      message: `payloads were taken out of this bundle: the head of "${branch}" moved from ${seq} to ${heads.get(branch)}`,
    }));
  return { warnings, warningCount: warnings.length };
}

/** Refuses options that change content: a copy has the same digests. */
function refuseOptions(path: string, { format, session, mask, follow }: ImportOptions): void {
  const name = Object.entries({ session, mask: mask === true || undefined, follow: follow === true || undefined }).find(
    ([, value]) => value !== undefined,
  )?.[0];
  if (format !== undefined && format !== 'bundle')
    throw new RepriseError('import.invalid', `Cannot import ${JSON.stringify(path)} as ${format}: it is a bundle`, {
      hint: 'Leave out the format.',
    });
  if (name !== undefined)
    throw new RepriseError('import.invalid', `Cannot import the bundle ${JSON.stringify(path)} with "${name}"`, {
      hint: 'The import of a bundle is a copy: it has the ids and digests of its session.',
    });
}

/** Refuses to lay a redacted bundle over a session that still has its payloads: the copy would take them out there too. */
async function refuseRedacting(engine: Engine, path: string, { session, redacted }: BundleManifest): Promise<void> {
  if (redacted === null) return;
  const held = await engine.store.session(sessionRef(engine, session.id));
  if (held === undefined || held.erasures === session.erasures) return;
  throw new RepriseError(
    'session.exists',
    `Cannot import ${JSON.stringify(path)}: session "${session.id}" is here, and payloads were taken out of the bundle`,
    {
      hint: 'Import it into a different namespace, or delete the session here first.',
      details: { session: session.id },
    },
  );
}
