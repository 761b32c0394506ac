/** Replaces the program's signal handlers: the first signal stops the work, the second ends the program. Returns a function that restores them. */
export function catchSignals(controller: AbortController): () => void {
  const restore = (['SIGINT', 'SIGTERM'] as const).map((name) => {
    const before = process.listeners(name);
    const stop = (): void => {
      if (controller.signal.aborted) process.exit(name === 'SIGINT' ? 130 : 143);
      controller.abort(new Error(`it was stopped by ${name === 'SIGINT' ? 'Ctrl-C' : name}`));
    };
    process.removeAllListeners(name).on(name, stop);
    return () => {
      process.off(name, stop);
      for (const listener of before) process.on(name, listener);
    };
  });
  return () => {
    for (const put of restore) put();
  };
}
