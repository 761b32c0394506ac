import { fileAt, type Rule } from '../tree.ts';

/** An example that a document names exists. */
export const rule: Rule = (tree) =>
  tree.files
    .filter((file) => file.path.endsWith('.md'))
    .flatMap((file) =>
      [...file.text.matchAll(/\bexamples\/[\w./-]+\.ts\b/g)]
        .map((match) => match[0])
        .filter((example) => fileAt(tree, example) === undefined)
        .map((example) => ({ file: file.path, message: `names "${example}", which does not exist` })),
    );
