/** The panels of a run, in their order. */
export const panels = ['context', 'answer', 'knew', 'why', 'raw'] as const;

/** A panel of a run. */
export type Panel = (typeof panels)[number];

/** How the strip measures its width. */
export const scales = ['time', 'seq', 'turn'] as const;

/** How the strip measures its width. */
export type ScaleName = (typeof scales)[number];

/** The address of a run at a point, alone or next to others. */
export interface RunAddress {
  readonly screen: 'run';
  readonly session: string;
  readonly branch: string;
  /** A seq, or a word that the server replaces by one: `head`, `turn:3`, `run:ID`, `time:ISO`. */
  readonly at: string;
  readonly panel: Panel;
  readonly filter: string;
  readonly scale: ScaleName;
  /** The seqs that the strip shows; everything if it is missing. */
  readonly range: readonly [number, number] | undefined;
  /** Shows markers and what they took out. */
  readonly raw: boolean;
  /** The refs to compare with. */
  readonly with: readonly string[];
  /** The difference that is looked at, from 1. */
  readonly difference: number | undefined;
}

/** The address of one screen of the studio. The token is never in it. */
export type Address =
  | { readonly screen: 'sessions'; readonly query: string }
  | RunAddress
  | { readonly screen: 'tree'; readonly session: string; readonly branch: string | undefined }
  | { readonly screen: 'experiment'; readonly session: string; readonly id: string }
  | { readonly screen: 'runs' }
  | { readonly screen: 'store' };

/** The most histories that are compared at once. */
const comparedMax = 8;

/** Returns true if an address names a seq of a session by its id, and no word that the server has to replace first. */
export function isPlace({ session, at }: RunAddress): boolean {
  return /^\d+$/.test(at) && session !== 'latest';
}

/** Returns the address of a run at a point. */
export function runAddress(
  session: string,
  branch: string,
  at: string | number,
  more: Partial<RunAddress> = {},
): RunAddress {
  return {
    screen: 'run',
    session,
    branch,
    at: String(at),
    panel: 'context',
    filter: '',
    scale: 'time',
    range: undefined,
    raw: false,
    with: [],
    difference: undefined,
    ...more,
  };
}

/** Reads the path and the query of an address; an unknown one is the list of sessions. */
export function readAddress(pathname: string, search: string): Address {
  const words = pathname.split('/').filter((word) => word !== '');
  const query = new URLSearchParams(search);
  const [first, session, third, id] = words;
  if (first === 'runs') return { screen: 'runs' };
  if (first === 'store') return { screen: 'store' };
  if (first !== 's' || session === undefined) return { screen: 'sessions', query: query.get('q') ?? '' };
  const name = decoded(session);
  if (third === 'tree') return { screen: 'tree', session: name, branch: query.get('branch') ?? undefined };
  if (third === 'experiment' && id !== undefined) return { screen: 'experiment', session: name, id: decoded(id) };
  return readRun(name, third ?? 'main@head', query);
}

function readRun(session: string, point: string, query: URLSearchParams): RunAddress {
  const split = point.lastIndexOf('@');
  const [branch, at] = split < 0 ? [point, 'head'] : [point.slice(0, split), point.slice(split + 1)];
  const difference = Number(query.get('d'));
  return runAddress(session, decoded(branch) || 'main', decoded(at) || 'head', {
    panel: oneOf(panels, query.get('panel'), 'context'),
    scale: oneOf(scales, query.get('scale'), 'time'),
    filter: query.get('filter') ?? '',
    range: rangeIn(query.get('range')),
    raw: query.has('raw'),
    with: query.getAll('with').slice(0, comparedMax - 1),
    difference: Number.isSafeInteger(difference) && difference > 0 ? difference : undefined,
  });
}

/** Writes an address as path and query. */
export function addressText(address: Address): string {
  switch (address.screen) {
    case 'sessions':
      return address.query === '' ? '/' : `/?${new URLSearchParams({ q: address.query }).toString()}`;
    case 'runs':
    case 'store':
      return `/${address.screen}`;
    case 'tree': {
      const branch =
        address.branch === undefined ? '' : `?${new URLSearchParams({ branch: address.branch }).toString()}`;
      return `/s/${encoded(address.session)}/tree${branch}`;
    }
    case 'experiment':
      return `/s/${encoded(address.session)}/experiment/${encoded(address.id)}`;
    case 'run':
      return runText(address);
  }
}

function runText(address: RunAddress): string {
  const query = new URLSearchParams();
  const { panel, filter, scale, range, raw, difference } = address;
  for (const ref of address.with) query.append('with', ref);
  if (difference !== undefined) query.set('d', String(difference));
  if (panel !== 'context') query.set('panel', panel);
  if (filter !== '') query.set('filter', filter);
  if (scale !== 'time') query.set('scale', scale);
  if (range !== undefined) query.set('range', `${range[0]}-${range[1]}`);
  if (raw) query.set('raw', '');
  const text = query.toString().replace(/=(?=&|$)/g, '');
  const point = `${encoded(address.branch)}@${encoded(address.at)}`;
  return `/s/${encoded(address.session)}/${point}${text === '' ? '' : `?${text}`}`;
}

/** Returns true if two addresses are on the same screen of the same branch, so that going from one to the other leaves no entry to go back to. */
export function isSameScreen(a: Address, b: Address): boolean {
  if (a.screen !== b.screen) return false;
  if (a.screen === 'run' && b.screen === 'run')
    return a.session === b.session && a.branch === b.branch && a.with.length === b.with.length;
  if (a.screen === 'sessions') return true;
  return addressText(a) === addressText(b);
}

const encoded = (text: string): string => encodeURIComponent(text).replace(/%3A/g, ':');

/** Decodes a word; one that was not encoded well is taken as it is. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function oneOf<Word extends string>(words: readonly Word[], text: string | null, otherwise: Word): Word {
  return words.find((word) => word === text) ?? otherwise;
}

function rangeIn(text: string | null): readonly [number, number] | undefined {
  const [, from, to] = /^(\d{1,12})-(\d{1,12})$/.exec(text ?? '') ?? [];
  return from === undefined || to === undefined || Number(from) > Number(to) ? undefined : [Number(from), Number(to)];
}
