import { lineAt, nameOf, productFiles, type SyntaxNode, syntaxOf } from '../syntax.ts';
import type { Problem, Rule, TreeFile } from '../tree.ts';

/** Every exported declaration of the product has a doc comment. Re-exports carry the comment of what they name. */
export const rule: Rule = (tree) => productFiles(tree).flatMap((file) => undocumented(file));

function undocumented(file: TreeFile): Problem[] {
  const body = syntaxOf(file).program.body as unknown as SyntaxNode[];
  const seen = new Set<string>();
  return body.flatMap((node) => {
    const declaration = node['declaration'] as SyntaxNode | null | undefined;
    if (node.type !== 'ExportNamedDeclaration' || !declaration) return [];
    const name = declaredName(declaration);
    // The overloads of one function share the comment of the first.
    if (seen.has(name)) return [];
    seen.add(name);
    if (hasDocComment(file, node.start)) return [];
    return [{ file: file.path, line: lineAt(file, node.start), message: `"${name}" has no doc comment` }];
  });
}

function declaredName(declaration: SyntaxNode): string {
  const first = (declaration['declarations'] as SyntaxNode[] | undefined)?.[0];
  return nameOf(declaration['id']) ?? nameOf(first?.['id']) ?? declaration.type;
}

/** Between the doc comment and the declaration there may be line comments, such as a word to the linter. */
function hasDocComment(file: TreeFile, start: number): boolean {
  const before = syntaxOf(file).comments.filter((comment) => comment.end <= start);
  let end = start;
  for (const comment of before.toReversed()) {
    if (file.text.slice(comment.end, end).trim() !== '') return false;
    if (comment.type === 'Block') return comment.value.startsWith('*');
    end = comment.start;
  }
  return false;
}
