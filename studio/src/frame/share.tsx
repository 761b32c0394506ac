import { Menu } from '@base-ui/react/menu';
import { mainBranch } from '../../../src/core/ref.ts';
import type { Address } from '../address/address.ts';
import { announce } from '../parts/announcer.ts';
import { useCell } from '../parts/cell.ts';
import { copyText } from '../parts/copy.ts';
import { asError } from '../parts/use-answer.ts';
import { shellWord } from '../run/command-text.ts';
import { refOf, useStudio } from './studio.ts';

/** Ways to hand on what is on screen: its ref, its address without the token, one file that opens anywhere. */
export function ShareButton({ address }: { readonly address: Address }): React.ReactNode {
  const { source, namespace, rights } = useStudio();
  const { live } = useCell(rights);
  if (address.screen !== 'run') return null;
  const { session, branch } = address;
  const seq = Number(address.at);
  const ref = Number.isNaN(seq) ? `${session}/${branch}` : refOf({ session, branch, seq });
  const save = (): void => {
    announce('Making the file…');
    source
      .exportPage(namespace, ref, undefined, new AbortController().signal)
      .then((file) => saveFile(file, `${session}-${branch === mainBranch ? '' : `${branch}-`}reprise.html`))
      .catch((error: unknown) => announce(asError(error).message));
  };
  return (
    <Menu.Root>
      <Menu.Trigger className="quiet">Share</Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner sideOffset={4} className="float-place">
          <Menu.Popup className="float menu">
            <Menu.Item className="menu-item" onClick={() => copyText(ref, 'the ref')}>
              Copy the ref <span className="faint mono">{ref}</span>
            </Menu.Item>
            {live ? (
              <>
                <Menu.Item className="menu-item" onClick={() => copyText(location.href, 'the address')}>
                  Copy the address <span className="faint">without the token</span>
                </Menu.Item>
                <Menu.Item className="menu-item" onClick={save}>
                  Save as one HTML file <span className="faint">opens without a server</span>
                </Menu.Item>
                <Menu.Item
                  className="menu-item"
                  onClick={() =>
                    copyText(`reprise export ${shellWord(ref)} --format html --to run.html`, 'the command')
                  }
                >
                  Copy the command that saves it
                </Menu.Item>
              </>
            ) : null}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}

function saveFile(file: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = name.replace(/[^\w.-]+/g, '-');
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
