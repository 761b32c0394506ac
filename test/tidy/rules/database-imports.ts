import { importsOf } from '../imports.ts';
import { packageOf } from '../rooms.ts';
import { productFiles } from '../syntax.ts';
import type { Rule } from '../tree.ts';

/** Database drivers are behind one door each: `node:sqlite` in `database.ts`, `pg` in the PostgreSQL store. */
export const rule: Rule = (tree) =>
  productFiles(tree).flatMap((file) =>
    importsOf(file).flatMap(({ specifier, line }) => {
      const message = refuse(file.path, specifier);
      return message === undefined ? [] : [{ file: file.path, line, message }];
    }),
  );

function refuse(path: string, specifier: string): string | undefined {
  if (specifier === 'node:sqlite' && !path.endsWith('/database.ts')) return '"node:sqlite" belongs in database.ts';
  if (packageOf(specifier) === 'pg' && !path.startsWith('src/store/postgres/')) return '"pg" belongs in store/postgres';
  return undefined;
}
