/** Imports one program after the other, each in its folder: node example-child.ts. The parent sends paths. */
process.on('message', (path: string) => void answer(path));
process.on('disconnect', () => process.exit());

async function answer(path: string): Promise<void> {
  process.chdir(new URL('.', `file://${path}`).pathname);
  const failed = await import(path).then(
    () => undefined,
    (error: unknown) => (error instanceof Error ? (error.stack ?? error.message) : String(error)),
  );
  process.send?.({ failed });
}
