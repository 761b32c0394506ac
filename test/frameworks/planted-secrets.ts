/** Secrets of every documented kind, to be put wherever text can be put, and looked for in the bytes of a store. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { JsonObject, MaskingOptions } from '../../src/index.ts';

/** The rules of a user beside those that are built in. */
export const ownRules: MaskingOptions = {
  rules: [
    { name: 'customer', pattern: /CUST-\w+/ },
    { name: 'iban', fields: ['iban'] },
  ],
};

/** The secrets of one place. Every place has its own, so that a mask in one does not help another. */
export interface Plant {
  /** The place, for who reads a failure. */
  readonly place: string;
  /** The secrets that text can hold, by the rule that finds each, and more than one where a rule has several frames. */
  readonly inText: readonly (readonly [rule: string, secret: string])[];
  /** Those that only JSON can hold. */
  readonly inJson: readonly (readonly [rule: string, secret: string])[];
  /** All secrets of text, each in its frame, a line each. */
  readonly text: string;
  /** All secrets of JSON, and the text. */
  readonly value: JsonObject;
}

let plants = 0;

/** Makes the plant of a place. */
export function plantIn(place: string): Plant {
  const id = `q${(++plants).toString(36).padStart(3, '0')}z`;
  const upper = id.toUpperCase();
  const base = 'Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4z';
  const number = (kind: number): number => 700_000_000_000 + kind * 1_000_000 + plants;
  const lines: readonly (readonly [rule: string, secret: string, text: string])[] = [
    ['openai-key', `sk-proj-${id}${base}`, `My key is sk-proj-${id}${base}, keep it.`],
    ['anthropic-key', `sk-ant-${id}${base}`, `sk-ant-${id}${base}`],
    ['stripe-key', `sk_live_${id}${base}`, `stripe: sk_live_${id}${base}`],
    ['github-token', `ghp_${id}${base}`, `ghp_${id}${base}`],
    ['gitlab-token', `glpat-${id}${base}`, `glpat-${id}${base}`],
    ['slack-token', `xoxb-1-${id}-2345678`, `xoxb-1-${id}-2345678`],
    ['aws-key', `AKIA${upper}ABCDEFGHIJK`, `AKIA${upper}ABCDEFGHIJK`],
    ['google-key', `AIza${id}${base.slice(0, 30)}`, `AIza${id}${base.slice(0, 30)}`],
    ['hugging-face-token', `hf_${id}${base}`, `hf_${id}${base}`],
    ['npm-token', `npm_${id}${base.slice(0, 31)}`, `npm_${id}${base.slice(0, 31)}`],
    ['jwt', `c2ln${id}${base}`, `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NSJ9.c2ln${id}${base}`],
    ['private-key', `MIIE${id}${base}`, `-----BEGIN PRIVATE KEY-----\nMIIE${id}${base}\n-----END PRIVATE KEY-----`],
    ['bearer-token', `b${id}tok123`, `It sent Bearer b${id}tok123 along.`],
    ['url-password', `u${id}/p@ss`, `postgres://app:u${id}/p@ss@db.example:5432/x`],
    ['url-password', `r${id}`, `redis://:r${id}@cache:6379/0`],
    ['command-password', `c${id}pw`, `curl -s -u admin:c${id}pw https://x.example`],
    ['secret-field', `quer${id}`, `GET https://x.example/v1?api_key=quer${id}&token=tok${id}en&n=1`],
    ['secret-field', `tok${id}en`, ''],
    ['secret-field', `pw${id}`, `pwd=pw${id}`],
    ['secret-field', `pg${id}`, `PGPASSWORD=pg${id} psql -h db`],
    ['secret-field', `yaml${id}1`, `password: yaml${id}1`],
    ['secret-field', `opt${id}`, `deploy --api-key opt${id} --dry-run`],
    ['secret-field', `sid${id}`, `Cookie: theme=dark; session=sid${id}`],
    ['secret-field', `json${id}`, `Answer: {"user":"bob","password":"json${id}","pin":1}`],
    ['secret-field', `deep${id}`, JSON.stringify({ body: JSON.stringify({ client_secret: `deep${id}` }) })],
    ['secret-field', `${number(1)}`, `{"access_token":${number(1)}}`],
    ['customer', `CUST-${id}`, `I am CUST-${id}.`],
    ['iban', `DE${id}`, `{"iban":"DE${id}"}`],
  ];
  const text = lines.map(([, , line]) => line).join('\n');
  const value: JsonObject = {
    password: `field${id}`,
    copy: `field${id} once more`,
    secret: number(2),
    credentials: { user: `user${id}`, pins: [number(3), { inner: `inner${id}` }] },
    headers: { authorization: `Basic basic${id}`, 'x-nonce': `${id}${base}` },
    env: [{ name: 'DB_PASSWORD', value: `pair${id}` }],
    args: ['--password', `word${id}`, '-u', `bob:arg${id}`],
    [`CUST-k${id}`]: true,
    iban: `FR${id}`,
    arguments: JSON.stringify({ password: `said${id}`, nested: { auth_token: number(4) } }),
    text,
  };
  const inJson: readonly (readonly [rule: string, secret: string])[] = [
    ['secret-field', `field${id}`],
    ['secret-field', `${number(2)}`],
    ['secret-field', `user${id}`],
    ['secret-field', `${number(3)}`],
    ['secret-field', `inner${id}`],
    ['secret-field', `basic${id}`],
    ['high-entropy', `${id}${base}`],
    ['secret-field', `pair${id}`],
    ['secret-field', `word${id}`],
    ['command-password', `arg${id}`],
    ['customer', `CUST-k${id}`],
    ['iban', `FR${id}`],
    ['secret-field', `said${id}`],
    ['secret-field', `${number(4)}`],
  ];
  return { place, inText: lines.map(([rule, secret]) => [rule, secret] as const), inJson, text, value };
}

/** A plant, and which of it was planted. */
export interface Planted {
  readonly plant: Plant;
  readonly kind: 'text' | 'value';
}

const secretsOf = ({ plant, kind }: Planted): readonly (readonly [rule: string, secret: string])[] =>
  kind === 'text' ? plant.inText : [...plant.inText, ...plant.inJson];

/** The names of all rules that a secret was planted for. */
export const plantedRules = (planted: readonly Planted[]): string[] =>
  [...new Set(planted.flatMap((each) => secretsOf(each).map(([rule]) => rule)))].sort();

/** Finds a part of every secret: the id of its plant, in either case, or a number of it. */
const traceOfPlant = /q[0-9a-z]{3}z|Q[0-9A-Z]{3}Z|70000[0-9]{7}/g;

/** More than any secret is long. */
const reach = 100;

/** Returns the text around everything that can be part of a secret. A search for thousands of secrets needs no more. */
function aroundTraces(text: string): string {
  const around: string[] = [];
  let end = 0;
  for (const { index } of text.matchAll(traceOfPlant)) {
    const from = Math.max(end, index - reach);
    if (from > end) around.push('\0');
    end = Math.max(end, index + reach);
    around.push(text.slice(from, end));
  }
  return around.join('');
}

/** The secrets that stand in the content of a store, each with its place; `isThere` turns the question around. */
export function secretsIn(planted: readonly Planted[], content: Buffer, isThere = true): string[] {
  const text = aroundTraces(content.toString('latin1').replaceAll('\\/', '/'));
  return planted.flatMap((each) =>
    secretsOf(each)
      .filter(([, secret]) => text.includes(secret) === isThere)
      .map(([rule, secret]) => `${each.plant.place}: ${rule} ${secret}`),
  );
}

/** Everything that a SQLite store has on disk: its file, and what the write-ahead log still holds. */
export function fileContent(path: string): Buffer {
  const folder = dirname(path);
  return withBytes(Buffer.concat(readdirSync(folder).map((file) => readFileSync(join(folder, file)))));
}

/** Adds the bytes that are stored in base64, as they are. */
export function withBytes(content: Buffer): Buffer {
  const found = content.toString('latin1').matchAll(/"{1,2}bytes"{1,2}:"{1,2}([A-Za-z0-9+/=]+)"/g);
  return Buffer.concat([content, ...Array.from(found, ([, bytes = '']) => Buffer.from(bytes, 'base64'))]);
}
