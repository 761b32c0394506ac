/** A proxy that loses connections, for the tests and the load. */
import { connect, createServer, type Socket } from 'node:net';

/** A proxy that cuts connections when it is asked to. */
export interface CuttingProxy {
  readonly url: string;
  /** Lets so many pieces from the server through from now on, then cuts every connection once. */
  cutAfter(pieces: number): void;
  /** Cuts every connection. */
  cut(): void;
  /** Whether the last cut happened. */
  readonly hasCut: boolean;
  close(): Promise<void>;
}

/** Starts a proxy before a server on this machine. */
export async function cuttingProxy(target: string): Promise<CuttingProxy> {
  const port = Number(new URL(target).port);
  const sockets = new Set<Socket>();
  let left: number | undefined;
  let hasCut = false;
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1');
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.on('data', (piece) => upstream.write(piece));
    upstream.on('data', (piece) => {
      if (left === undefined || left-- > 0) {
        client.write(piece);
        return;
      }
      left = undefined;
      hasCut = true;
      cut();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`,
    cutAfter: (pieces) => {
      left = pieces;
      hasCut = false;
    },
    cut,
    get hasCut() {
      return hasCut;
    },
    close: async () => {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
