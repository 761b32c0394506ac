/** The code in the documents, as programs. CONTRIBUTING.md says how a page has to be written. */

/** One fenced block of a page: what its fence says, its lines, and the number of the first of them. */
export interface Block {
  readonly kind: string;
  readonly lines: readonly string[];
  readonly firstLine: number;
}

/** A page as a program, and what it must print if the page shows that. */
export interface PageProgram {
  readonly text: string;
  readonly output: string | undefined;
}

/** The fenced blocks of a page, in order. A fence that is never closed is an error: what follows would go unseen. */
export function blocksOf(page: string): Block[] {
  const blocks: Block[] = [];
  let open: { kind: string; lines: string[]; firstLine: number } | undefined;
  for (const [index, line] of page.split('\n').entries()) {
    const fence = /^\s*```(.*)$/.exec(line);
    if (open === undefined) {
      if (fence !== null) open = { kind: fence[1] ?? '', lines: [], firstLine: index + 2 };
    } else if (fence?.[1] === '') {
      blocks.push(open);
      open = undefined;
    } else open.lines.push(line);
  }
  if (open !== undefined) throw new Error(`The block that begins before line ${open.firstLine} is not closed`);
  return blocks;
}

/**
 * All `ts` blocks of a page as one program, undefined if there are none. Every line keeps its number, so that an error
 * points at the page. The program must print what the `output` blocks show.
 */
export function programOf(page: string): PageProgram | undefined {
  const blocks = blocksOf(page);
  const code = blocks.filter((block) => block.kind === 'ts');
  if (code.length === 0) return undefined;
  const lines: string[] = [];
  for (const block of code) {
    while (lines.length < block.firstLine - 1) lines.push('');
    lines.push(...block.lines);
  }
  const shown = blocks.filter((block) => block.kind === 'output').flatMap((block) => block.lines);
  return { text: `${lines.join('\n')}\n`, output: shown.length === 0 ? undefined : `${shown.join('\n')}\n` };
}

/** The `npm run …` and `npm …` scripts that the `sh` blocks of a page tell people to type. */
export function scriptsOf(page: string): string[] {
  const text = blocksOf(page)
    .filter((block) => block.kind === 'sh')
    .flatMap((block) => block.lines)
    .join('\n');
  return [...text.matchAll(/\bnpm (?:run )?([a-z][\w:-]*)/g)].map((match) => match[1] as string);
}
