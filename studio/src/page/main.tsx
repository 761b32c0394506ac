import { flushSync } from 'react-dom';
import { createRoot } from 'react-dom/client';
import '../look/tokens.css';
import '../look/base.css';
import '../look/frame.css';
import '../look/run.css';
import '../look/panels.css';
import '../look/screens.css';
import '../look/drawer.css';
import { parseRef } from '../../../src/core/ref.ts';
import type { PageRows } from '../../../src/engine/bundling/page-rows.ts';
import { type Address, runAddress } from '../address/address.ts';
import { openAddressBar } from '../address/address-bar.ts';
import { App } from '../frame/app.tsx';
import { Studio, StudioProvider } from '../frame/studio.ts';
import { theme } from '../look/theme.ts';
import { Failure } from '../parts/states.tsx';
import { asError } from '../parts/use-answer.ts';
import { readRows } from './exported-rows.ts';
import { LeftOut } from './left-out.tsx';
import { pageSource } from './page-source.ts';

/** Opens the session in this file. No server is asked, and nothing leaves the page. */
async function begin(root: HTMLElement): Promise<void> {
  theme.begin();
  const view = createRoot(root);
  try {
    const blocks = [...document.querySelectorAll('script[type="application/octet-stream"]')];
    const rows = await readRows(blocks.map((block) => block.textContent ?? ''));
    for (const block of blocks) block.remove();
    const bar = openAddressBar('fragment', rows.namespace);
    if (location.hash === '') bar.replace(firstAddress(rows));
    const studio = new Studio(await pageSource(rows), bar, rows.namespace);
    // The looks of the panels fold the whole history in this thread: they begin when the list is on screen.
    await studio.begin()?.firstShown();
    flushSync(() =>
      view.render(
        <StudioProvider value={studio}>
          <App />
          <LeftOut leftOut={rows.leftOut} />
        </StudioProvider>,
      ),
    );
  } catch (error) {
    view.render(<Failure error={asError(error)} />);
  }
}

/** Returns the address of the point that was exported: a seq, so that no one has to look for the head first. */
function firstAddress({ ref, restores }: PageRows): Address {
  const { session, branch } = parseRef(ref);
  const head = restores.findLast((batch) => batch.branch === branch && batch.events.length > 0)?.events.at(-1)?.seq;
  return runAddress(session, branch, ref.includes('@') ? ref.slice(ref.indexOf('@') + 1) : (head ?? 'head'));
}

const root = document.getElementById('app');
if (root !== null) void begin(root);
