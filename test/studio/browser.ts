/** How the browser of tests, pictures and figures is started. The package's own arguments contain --single-process, with which the second page dies. */
export const browserArguments: string[] = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'];
