import { Cell } from '../parts/cell.ts';
import { type Address, addressText, isSameScreen, readAddress } from './address.ts';

/** The address of the page: what is shown follows it, and it follows what is shown. */
export interface AddressBar {
  readonly address: Cell<Address>;
  /** Goes to an address. On the same screen it takes the place of the one before, so that Back leaves the screen. */
  readonly go: (address: Address) => void;
  /** Puts an address in the place of the current one, as what it means. */
  readonly replace: (address: Address) => void;
  /** The text of an address, for links. */
  readonly href: (address: Address) => string;
}

/** Where the address is: in the path of a server's page, or behind the `#` of a file. */
export type AddressPlace = 'path' | 'fragment';

/** Returns the address bar of this page. */
export function openAddressBar(place: AddressPlace, namespace: string): AddressBar {
  const read = (): Address => {
    if (place === 'path') return readAddress(location.pathname, location.search);
    const [path = '', query = ''] = location.hash.slice(1).split('?');
    return readAddress(path, query);
  };
  const href = (address: Address): string => {
    const text = addressText(address);
    const own =
      namespace === 'default' ? '' : `${text.includes('?') ? '&' : '?'}namespace=${encodeURIComponent(namespace)}`;
    return `${place === 'path' ? '' : '#'}${text}${own}`;
  };
  const address = new Cell(read());
  globalThis.addEventListener('popstate', () => address.set(read()));
  globalThis.addEventListener('hashchange', () => address.set(read()));
  const replace = (next: Address): void => {
    if (addressText(next) !== addressText(address.value)) history.replaceState(null, '', href(next));
    address.set(next);
  };
  const go = (next: Address): void => {
    if (isSameScreen(next, address.value)) return replace(next);
    history.pushState(null, '', href(next));
    address.set(next);
  };
  return { address, go, replace, href };
}
