import { codeFiles, lineAt, nodesOf, stringOf, syntaxOf } from '../syntax.ts';
import type { Problem, Rule, TreeFile } from '../tree.ts';

/** Phrases that a reader stumbles over, each with what to write instead. */
const phrases: readonly (readonly [phrase: RegExp, instead: string])[] = [
  [/\b(is|are|was|were|be|been|being) told\b/i, 'name who says what: "the error says …", "the caller learns …"'],
  [/\btold from\b/i, '"distinguished from", or say how they differ'],
  [/\btells whether\b/i, '"Returns true if …" or "Whether …"'],
  [/\bfor ever\b/i, '"forever", "without end", or say what never happens'],
  [/\binside of\b/i, '"inside" or "in"'],
  [/\bby lot\b/i, '"random" or "at random"'],
  [/\bwhoever\b/i, 'name the actor: "the caller", "a program that …"'],
  [/(?<!\bthere )\b(is|are|was|were) none\b(?! of\b)/i, 'say what it is: "is not JSON", "is something else"'],
  [/\b(it|this|that|which|who) is no (?!longer\b|more\b|less\b|better\b|worse\b|different\b)/i, '"is not a …"'],
];

/** A statement whose subject is a clause: `What was stored is read.` A question ends with its mark. */
const clauseFirst: readonly [RegExp, string] = [
  /(?:^|[.:;]\s+)What [^.?!]*[.!]/,
  'start with the actor or the thing, not with "What …"',
];

/** Places that stay as they are: histories of releases, and what a run has measured. */
const kept = ['test/compat/', 'bench/BENCHMARKS.md'];

/** Comments, messages and documents are in plain English: a short list of phrases does not come back. */
export const rule: Rule = ({ root, files }) => {
  const ours = { root, files: files.filter(({ path }) => !kept.some((place) => path.startsWith(place))) };
  return [
    ...codeFiles(ours).flatMap((file) => [...inComments(file), ...inMessages(file)]),
    ...ours.files.filter(({ path }) => path.endsWith('.md')).flatMap(inDocument),
  ];
};

function inComments(file: TreeFile): Problem[] {
  return syntaxOf(file).comments.flatMap(({ start, value }) =>
    found(file, lineAt(file, start), prose(value.replaceAll(/^\s*\*/gm, ''))),
  );
}

/** Texts of the product that have the length of a sentence. */
function inMessages(file: TreeFile): Problem[] {
  if (!file.path.startsWith('src/')) return [];
  return [...nodesOf(file)].flatMap((node) => {
    const text = stringOf(node);
    return text === undefined || !/\w \w+ \w/.test(text) ? [] : found(file, lineAt(file, node.start), prose(text));
  });
}

/** The lines of a document that are prose: no code, whether in a block or in a line. */
function inDocument(file: TreeFile): Problem[] {
  let isCode = false;
  return file.text.split('\n').flatMap((line, index) => {
    if (/^\s*```/.test(line)) isCode = !isCode;
    return isCode ? [] : found(file, index + 1, prose(line.replace(/^[\s>*#|-]+/, '')));
  });
}

/** Text without what it quotes and without its line breaks. */
function prose(text: string): string {
  return text
    .replaceAll(/`[^`]*`|"[^"]*"|“[^”]*”/g, '…')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

function found(file: TreeFile, line: number, text: string): Problem[] {
  return [...phrases, clauseFirst].flatMap(([phrase, instead]) => {
    const [words] = phrase.exec(text) ?? [];
    return words === undefined ? [] : [{ file: file.path, line, message: `says "${words.trim()}": ${instead}` }];
  });
}
