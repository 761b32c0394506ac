import { Option } from 'commander';
import { RepriseError } from '../../core/error.ts';
import { makeSigningKey, pinKey, pinnedKeys, readSigningKey, signingKeyPath } from '../../node/signing-key.ts';
import { plain } from '../../wording/text.ts';
import type { CommandSpec } from '../command.ts';
import type { Context } from '../context.ts';
import { done } from '../exit-code.ts';
import { textOption } from '../option-values.ts';

/** The keys of this user, as `reprise key --json` prints them. */
export interface KeyAnswer {
  /** The public key that signs bundles; null if it was not asked for. */
  readonly key: string | null;
  /** The file of the private key; null if it was not asked for. */
  readonly file: string | null;
  /** Public keys of others, by name. */
  readonly pinned: Readonly<Record<string, string>>;
}

/** `reprise key`. */
export const key: CommandSpec = {
  arguments: [
    { name: '[action]', about: 'show (default), new, pin, forget or list' },
    { name: '[name]', about: 'for pin and forget: the name of the key of somebody else' },
    { name: '[key]', about: 'for pin: the public key, ed25519:…' },
  ],
  options: [new Option('--file <path>', "file of the private key (default: this user's)")],
  examples: ['reprise key new --file signing-key.pem', 'reprise key show --file signing-key.pem', 'reprise key list'],
  run: async (context, [action = 'show', name, given], options) => {
    const file = textOption(options, 'file') ?? signingKeyPath();
    switch (action) {
      case 'show':
        return print(context, { key: readSigningKey(file).key, file });
      case 'new': {
        const made = makeSigningKey(file);
        context.out.say(`Made a key in ${plain(file)}. Keep it: only it can sign as you.`);
        return print(context, { key: made.key, file });
      }
      case 'pin':
        pinKey(needed(name, 'a name'), needed(given, 'a public key'));
        return list(context);
      case 'forget':
        pinKey(needed(name, 'a name'), undefined);
        return list(context);
      case 'list':
        return list(context);
      default:
        throw new RepriseError('option.invalid', `Cannot do ${JSON.stringify(action)} with a key`, {
          hint: 'Write reprise key show|new|pin|forget|list.',
        });
    }
  },
};

function needed(text: string | undefined, what: string): string {
  if (text !== undefined) return text;
  throw new RepriseError('option.invalid', `Cannot change the pinned keys: ${what} is missing`, {
    hint: 'Write reprise key pin NAME KEY, or reprise key forget NAME.',
  });
}

async function print({ out }: Context, own: Pick<KeyAnswer, 'key' | 'file'>): Promise<number> {
  if (out.json !== undefined) await out.value({ ...own, pinned: pinnedKeys() } satisfies KeyAnswer);
  else await out.line(own.key ?? '');
  return done;
}

async function list({ out }: Context): Promise<number> {
  const pinned = pinnedKeys();
  if (out.json !== undefined) await out.value({ key: null, file: null, pinned } satisfies KeyAnswer);
  else await out.lines(Object.entries(pinned).map(([name, held]) => `${plain(name)}  ${plain(held)}`));
  return done;
}
