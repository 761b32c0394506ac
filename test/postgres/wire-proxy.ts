import { createServer, connect as dial, type Socket } from 'node:net';

/** One message of PostgreSQL's protocol, on its way. */
export interface WireMessage {
  readonly from: 'client' | 'server';
  /** Its letter; a client's first message has none and is called "startup". */
  readonly type: string;
  /** The statement of "Q" and "P", the tag of the server's "C"; else empty. */
  readonly text: string;
  /** Whether a transaction is under way: from its BEGIN to the answer to its COMMIT, both included. */
  readonly isInTransaction: boolean;
}

/** A network between a store and its server that can be cut at any message, or fall silent. */
export interface WireProxy {
  /** The same place, through the proxy. */
  readonly through: (place: string) => string;
  /** Asked for each message before it is handed on; true cuts the connection instead, on both sides. */
  cutAt: (message: WireMessage) => boolean;
  /** Asked for each message too; true leaves it out. */
  dropAt: (message: WireMessage) => boolean;
  /** While true the proxy hands nothing on and says nothing, as a network that swallows everything. Connections stay. */
  isSilent: boolean;
  /**
   * While true the proxy leaves out the settings that a connection begins with, as PgBouncer does with those in its
   * `ignore_startup_parameters`.
   */
  ignoresSettings: boolean;
  /** Bytes that the server has sent. */
  readonly bytes: () => number;
  /** Cuts every connection. */
  readonly cutAll: () => void;
  readonly close: () => Promise<void>;
}

/** Stands between stores and the server at a port of this machine. */
export async function startProxy(serverPort: number): Promise<WireProxy> {
  const sockets = new Set<Socket>();
  const links = new Set<Link>();
  let isSilent = false;
  let bytes = 0;
  const listener = createServer({ noDelay: true, allowHalfOpen: true }, (client) => {
    const server = dial({ port: serverPort, host: '127.0.0.1', noDelay: true, allowHalfOpen: true });
    const link: Link = { transaction: 'none', isSilent: proxy.isSilent };
    links.add(link);
    client.on('close', () => links.delete(link));
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => sockets.delete(socket));
    }
    server.on('data', (data: Buffer) => {
      bytes += data.length;
    });
    handOn('client', client, server, proxy, link);
    handOn('server', server, client, proxy, link);
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const { port } = listener.address() as { readonly port: number };
  const cutAll = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const proxy: WireProxy = {
    through: (place) => {
      const url = new URL(place);
      url.port = String(port);
      return url.href;
    },
    cutAt: () => false,
    dropAt: () => false,
    ignoresSettings: false,
    get isSilent() {
      return isSilent;
    },
    set isSilent(value) {
      isSilent = value;
      if (value) for (const link of links) link.isSilent = true;
    },
    bytes: () => bytes,
    cutAll,
    close: async () => {
      cutAll();
      await new Promise<void>((resolve) => listener.close(() => resolve()));
    },
  };
  return proxy;
}

interface Link {
  transaction: 'none' | 'open' | 'ending';
  isSilent: boolean;
}

/** Notes what is under way on a connection after a message. */
function follow(link: Link, { from, type, text }: WireMessage): void {
  if (from === 'client' && type === 'Q') {
    if (text === 'BEGIN') link.transaction = 'open';
  } else if (from === 'server' && type === 'C' && /^(COMMIT|ROLLBACK)$/.test(text)) link.transaction = 'ending';
  else if (from === 'server' && type === 'Z' && link.transaction === 'ending') link.transaction = 'none';
}

/** Hands on whole messages of one side, each of them judged first. */
function handOn(from: WireMessage['from'], source: Socket, target: Socket, proxy: WireProxy, link: Link): void {
  let held: Buffer = Buffer.alloc(0);
  let isFirst = from === 'client';
  source.on('data', (data: Buffer) => {
    held = Buffer.concat([held, data]);
    let taken = 0;
    for (;;) {
      const head = isFirst ? 0 : 1;
      if (held.length < taken + head + 4) break;
      const end = taken + head + held.readUInt32BE(taken + head);
      if (held.length < end) break;
      const message = messageOf(from, isFirst, held.subarray(taken, end), link);
      if (isFirst && proxy.ignoresSettings) {
        target.write(withoutSettings(held.subarray(taken, end)));
        held = Buffer.concat([held.subarray(0, taken), held.subarray(end)]);
        isFirst = false;
        continue;
      }
      isFirst = false;
      if (proxy.cutAt(message)) {
        // Everything before the message arrives; the message and what follows it do not.
        target.end(held.subarray(0, taken));
        source.destroy();
        source.removeAllListeners('data');
        return;
      }
      follow(link, message);
      if (proxy.dropAt(message)) {
        held = Buffer.concat([held.subarray(0, taken), held.subarray(end)]);
        continue;
      }
      taken = end;
    }
    if (taken > 0 && !link.isSilent) target.write(held.subarray(0, taken));
    held = held.subarray(taken);
  });
  source.on('end', () => {
    if (!link.isSilent) target.end();
  });
  source.on('close', () => {
    if (!link.isSilent) target.end();
  });
}

/** The parameters that PgBouncer itself knows, and passes on. */
const passedOn: readonly string[] = ['user', 'database', 'client_encoding', 'application_name'];

/** Returns a client's first message with none of its settings. */
function withoutSettings(startup: Buffer): Buffer {
  const strings = startup.subarray(8).toString('utf8').split('\0');
  const kept: string[] = [];
  for (let index = 0; index + 1 < strings.length && strings[index] !== ''; index += 2)
    if (passedOn.includes(String(strings[index]))) kept.push(String(strings[index]), String(strings[index + 1]));
  const body = Buffer.from(`${kept.join('\0')}\0\0`);
  const head = Buffer.from(startup.subarray(0, 8));
  head.writeUInt32BE(8 + body.length);
  return Buffer.concat([head, body]);
}

function messageOf(from: WireMessage['from'], isFirst: boolean, bytes: Buffer, { transaction }: Link): WireMessage {
  const type = isFirst ? 'startup' : String.fromCharCode(bytes[0] as number);
  const text = isFirst ? '' : textOf(from, type, bytes.subarray(5));
  return { from, type, text, isInTransaction: transaction !== 'none' || text === 'BEGIN' };
}

function textOf(from: WireMessage['from'], type: string, body: Buffer): string {
  const strings = body.toString('utf8').split('\0');
  if (from === 'client') return (type === 'Q' ? strings[0] : type === 'P' ? strings[1] : '') ?? '';
  return type === 'C' ? (strings[0] ?? '') : '';
}
