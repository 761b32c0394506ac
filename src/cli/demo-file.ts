/** The file in which `reprise demo` stores its story. */
export const demoFile = '.reprise/demo.db';
