import { fileAt, type Rule } from '../tree.ts';

const folder = 'docs/decisions/';

/** The list of decisions has every note once, in the order of their numbers. */
export const rule: Rule = (tree) => {
  const file = `${folder}README.md`;
  const notes = tree.files
    .filter(({ path }) => path.startsWith(folder) && path !== file)
    .map(({ path }) => path.slice(folder.length))
    .toSorted();
  const listed = [...(fileAt(tree, file)?.text ?? '').matchAll(/^\| \[\d{4}\]\((\S+?)\)/gm)].map((match) => match[1]);
  return listed.join() === notes.join()
    ? []
    : [{ file, message: `lists ${listed.join(', ')}, and the notes are ${notes.join(', ')}` }];
};
