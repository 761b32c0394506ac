/** Where `reprise demo` keeps its story. */
export const demoFile = '.reprise/demo.db';
