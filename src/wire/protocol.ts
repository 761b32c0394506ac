/** The version of the store calls: raised when a client and a server of different releases would misread each other. */
export const protocolVersion = 1;

/** The name by which a server says that it is one of ours. */
export const productName = 'reprise';

/** The header that carries the token. */
export const tokenHeader = 'authorization';

/** How often a stream that has nothing to say shows that the server is there. */
export const beatMs = 15_000;
