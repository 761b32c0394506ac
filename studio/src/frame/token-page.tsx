import { useState } from 'react';
import type { RepriseError } from '../../../src/core/error.ts';
import { keepToken, takeToken } from '../source/token.ts';

/** Asks for a token where none was given, or where the one that was given is not valid. */
export function TokenPage({ error }: { readonly error: RepriseError }): React.ReactNode {
  const [token, setToken] = useState('');
  return (
    <div className="screen first" data-part="token">
      <h1>This server needs a token</h1>
      <p className="first-lead">
        {takeToken() === undefined ? 'Paste a token to open it.' : `${error.message}. Paste a different one.`} A token
        that only reads is enough to look.
      </p>
      <form
        className="token-form"
        onSubmit={(event) => {
          event.preventDefault();
          keepToken(token.trim());
          location.reload();
        }}
      >
        <input
          className="field"
          type="password"
          aria-label="Token"
          placeholder="token"
          autoComplete="off"
          value={token}
          onChange={(event) => setToken(event.target.value)}
        />
        <button type="submit" className="button main" disabled={token.trim() === ''}>
          Open
        </button>
      </form>
      <p className="dim">
        The one who runs the server makes one with <code>reprise token create</code>. On your own machine, run{' '}
        <code>reprise studio</code> and open the address that it prints.
      </p>
      <p className="faint">The token stays in this tab. It is never in the address.</p>
    </div>
  );
}
