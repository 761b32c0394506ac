import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { RepriseError } from '../core/error.ts';
import { propertiesOf, propertyOf } from '../core/property.ts';
import { type Config, checkConfig } from '../core/recording/config.ts';
import { asError } from '../core/recording/error-record.ts';
import { projectFolders } from './repository.ts';

/** A configuration and the file it is in. */
export interface LoadedConfig {
  readonly file: string;
  readonly config: Config;
}

const names: readonly string[] = ['ts', 'mts', 'js', 'mjs'].map((ending) => `reprise.config.${ending}`);

/**
 * Finds the nearest `reprise.config.ts` (or `.mts`, `.js`, `.mjs`) on the way up to the root of the git repository;
 * without a repository, only in the folder itself. A file above the project does not belong to it and is not run.
 */
export function findConfigFile(from: string = process.cwd()): string | undefined {
  return projectFolders(from)
    .flatMap((folder) => names.map((name) => join(folder, name)))
    .find((path) => existsSync(path));
}

/** Loads a configuration file; throws `config.invalid` if it cannot be loaded or a field is not valid. */
export async function loadConfigFile(path: string): Promise<LoadedConfig> {
  const file = resolve(path);
  // To read a FIFO would wait forever for its other end.
  if (isSpecial(file))
    throw new RepriseError('config.invalid', `Cannot load ${JSON.stringify(file)}: it is not a regular file`, {
      hint: 'Write: export default defineConfig({ … }).',
      details: { file },
    });
  let held: Readonly<Record<string, unknown>>;
  try {
    held = propertiesOf(await import(pathToFileURL(file).href));
  } catch (error) {
    throw new RepriseError('config.invalid', `Cannot load ${JSON.stringify(file)}: ${asError(error).message}`, {
      hint: hintFor(error),
      details: { file },
      cause: error,
    });
  }
  if (!('default' in held)) {
    throw new RepriseError('config.invalid', `Cannot use ${JSON.stringify(file)}: it has no default export`, {
      hint: 'Write: export default defineConfig({ … }).',
      details: { file },
    });
  }
  return { file, config: checkConfig(held['default'], file) };
}

/** Returns true if there is something at a path that is not a regular file. */
function isSpecial(path: string): boolean {
  try {
    return !statSync(path).isFile();
  } catch {
    return false;
  }
}

function hintFor(error: unknown): string {
  const code = propertyOf(error, 'code');
  if (code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX')
    return 'Remove enums, namespaces and parameter properties: Node only strips the types.';
  if (code === 'ERR_MODULE_NOT_FOUND') return 'Install the packages it imports, and import files with their extension.';
  // `npm init` makes CommonJS packages, in which a .ts file cannot import.
  if (error instanceof SyntaxError && /import statement|import\.meta|Unexpected token 'export'/.test(error.message))
    return 'Rename it to reprise.config.mts, or set "type": "module" in its package.json.';
  return 'Run the file by itself with Node to see what is wrong.';
}
