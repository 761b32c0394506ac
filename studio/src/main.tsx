import { createRoot } from 'react-dom/client';
import './look/tokens.css';
import './look/fonts.css';
import './look/base.css';
import './look/frame.css';
import './look/run.css';
import './look/panels.css';
import './look/screens.css';
import { openAddressBar } from './address/address-bar.ts';
import { App } from './frame/app.tsx';
import { Studio, StudioProvider } from './frame/studio.ts';
import { theme } from './look/theme.ts';
import { openLiveFeed } from './source/live-feed.ts';
import { serverSource } from './source/server-source.ts';
import { takeToken } from './source/token.ts';
import { connectTransport } from './source/transport.ts';

const token = takeToken();
const baseUrl = location.origin;
const source = serverSource(connectTransport(baseUrl, token), openLiveFeed(baseUrl, token));
const namespace = new URLSearchParams(location.search).get('namespace') ?? 'default';
const studio = new Studio(source, openAddressBar('path', namespace), namespace);
theme.begin();
studio.begin();

const root = document.getElementById('app');
if (root !== null)
  createRoot(root).render(
    <StudioProvider value={studio}>
      <App />
    </StudioProvider>,
  );
