import { fileAt, type Rule } from '../tree.ts';

/** CHANGELOG.md begins with what is not released yet. */
export const rule: Rule = (tree) => {
  const text = fileAt(tree, 'CHANGELOG.md')?.text ?? '';
  const first = /^## (.*)$/m.exec(text)?.[1];
  return first === 'Unreleased' ? [] : [{ file: 'CHANGELOG.md', message: 'does not begin with "## Unreleased"' }];
};
