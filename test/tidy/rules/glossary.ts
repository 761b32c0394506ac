import { fileAt, type Rule } from '../tree.ts';

/** A word is defined once. */
export const rule: Rule = (tree) => {
  const file = 'GLOSSARY.md';
  const defined = [...(fileAt(tree, file)?.text ?? '').matchAll(/^- \*\*(.+?)\*\* —/gm)].map((match) => match[1] ?? '');
  return defined
    .filter((word, index) => defined.indexOf(word) < index)
    .map((word) => ({ file, message: `defines "${word}" more than once` }));
};
