import { fileAt, type Rule } from '../tree.ts';

const subpathsMax = 20;

/** The package has at most 20 doors. */
export const rule: Rule = (tree) => {
  const file = fileAt(tree, 'package.json');
  if (file === undefined) return [{ file: 'package.json', message: 'is missing' }];
  const { exports } = JSON.parse(file.text) as { exports?: Record<string, unknown> };
  const count = Object.keys(exports ?? {}).length;
  if (count >= 1 && count <= subpathsMax) return [];
  return [{ file: file.path, message: `has ${count} subpaths in "exports", between 1 and ${subpathsMax} are allowed` }];
};
