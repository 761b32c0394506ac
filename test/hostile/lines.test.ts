/**
 * # The hostile suite
 *
 * A hostile trial of Reprise (kills, flipped bits, forged rows, files of other users, poolers, wrong types) found what
 * did not hold. Each finding is a line of the table below with the test that fails without its fix. A line names the
 * file and a piece of the title of that test, and this file checks that both are there, so that no line loses its
 * proof. `docs/internals/threats.md` says the same for readers.
 *
 * - `trust.test.ts`: whose files decide what runs and where recordings go.
 * - `files.test.ts`: files that are not what they seem, or move.
 * - `rows.test.ts`: rows that no program of ours wrote, and passwords in URLs. Also on PostgreSQL.
 * - `histories.test.ts`: texts that take time, secrets, erasures, held stores. Also on PostgreSQL.
 * - `derived.test.ts`, `any-damage.test.ts`: snapshots, indexes and clocks that lie, and bits flipped anywhere.
 * - `steady.test.ts`, `squares.test.ts`: work that must not grow, counted.
 * - `verbs.test.ts`: every public verb with wrong types.
 * - `postgres-pooler.test.ts`: a pooler that ignores settings, on a real PostgreSQL.
 *
 * The suite is a project of its own: `npx vitest run --project hostile`. `npm test` runs it.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { root } from '../docs/workshop.ts';

/** A finding, the file of its test, and a piece of the title. */
type Line = readonly [finding: string, file: string, title: string];

const lines: readonly Line[] = [
  ['1 masking rules are linear', 'src/core/masking/text-secrets.test.ts', 'the work of every built-in rule is linear'],
  ['1 a pattern of the user has a limit', 'src/core/masking/own-rules.test.ts', 'one that would never end is stopped'],
  ['1 long numbers', 'src/core/canonical-json.test.ts', 'a number of 2,000,000 digits in one pass'],
  ['1 filters', 'src/core/event/pattern.test.ts', 'a pattern that backtracks without end elsewhere'],
  ['1 from outside', 'test/hostile/histories.test.ts', 'near matches of every masking rule are recorded'],
  [
    '2 a call that could not be stored',
    'src/engine/recording/stalled-store.test.ts',
    'resume refuses a call whose start',
  ],
  ['2 from outside', 'test/hostile/histories.test.ts', 'an irreversible call whose start another process keeps'],
  ['3 a configuration of a different user', 'test/hostile/trust.test.ts', 'a configuration is not run, by commands'],
  [
    '3 completion and looks run nothing',
    'test/hostile/trust.test.ts',
    'commands that need no agents run no configuration',
  ],
  ['3 no search up to /', 'test/hostile/trust.test.ts', 'outside a repository, a store above the folder'],
  ['3 0600 and .gitignore', 'test/hostile/trust.test.ts', 'the files of a store are created for their user alone'],
  ['4 a changed snapshot', 'test/hostile/derived.test.ts', 'a changed one does not match its checksum'],
  [
    '4 a forged snapshot and resume',
    'test/hostile/derived.test.ts',
    'a forged one with its checksum does not reach an agent',
  ],
  [
    '4 a forged row of the key index',
    'test/hostile/derived.test.ts',
    'one that does not match its event is store.damaged',
  ],
  ['4 every namespace', 'test/hostile/derived.test.ts', 'one of a different namespace is found by verifyAll()'],
  ['4 clocks and marks', 'test/hostile/derived.test.ts', 'clocks and marks are not believed'],
  ['4 repair', 'test/hostile/derived.test.ts', 'a missing one is named, and a repair brings it back'],
  ['4 swapped names', 'test/hostile/derived.test.ts', 'a digest kept elsewhere finds that they were swapped'],
  [
    '4 the writer role of PostgreSQL',
    'test/hostile/postgres-derived.test.ts',
    'as the writer role can make it, is named',
  ],
  ['4 bits and rows anywhere', 'test/hostile/any-damage.test.ts', 'a bit flipped anywhere'],
  ['5 the end of a run', 'test/hostile/steady.test.ts', 'the end of a run reads what the run added'],
  ['5 the event loop', 'test/hostile/steady.test.ts', 'no verb keeps timers and signals waiting'],
  ['6 forms of secrets', 'test/hostile/histories.test.ts', 'no secret of these forms is stored'],
  ['6 the key of masks', 'test/contract/masked-calls.test.ts', 'nobody who has only the store can try out'],
  ['6 masks under different keys', 'src/core/masking/same-value.test.ts', 'text without the id of a key is not a mask'],
  ['7 erased and deleted text', 'test/hostile/histories.test.ts', 'is in no file of the store, in whatever form'],
  ['7 a reader that blocks', 'test/contract/sqlite/storage.test.ts', 'says that a reader holds the log'],
  ['8 a file that moves', 'test/hostile/files.test.ts', 'a file that is removed or replaced under an open store'],
  ['8 a reader without folder rights', 'test/contract/sqlite/files.test.ts', 'by a reader without rights'],
  ['9 control characters', 'test/hostile/rows.test.ts', 'none reaches the output of a command'],
  ['9 the last seq', 'test/hostile/rows.test.ts', 'an event at the last seq that a number can hold'],
  ['9 a circle', 'test/hostile/rows.test.ts', 'a list that leads back to itself'],
  ['9 export on a terminal', 'test/hostile/rows.test.ts', 'on a terminal none reaches it in JSON, by export'],
  ['9 passwords in URLs', 'test/hostile/rows.test.ts', 'the password in the store URL'],
  ['10 keys of one transaction', 'test/hostile/squares.test.ts', 'keys that one transaction wrote, scanned'],
  ['10 copies of branches', 'test/hostile/squares.test.ts', 'branches, copied'],
  ['10 tree and verify', 'test/hostile/squares.test.ts', 'branches, of which one is verified'],
  ['10 replacements and insertions', 'test/hostile/squares.test.ts', 'the work of one more edit'],
  ['10 shipit imports', 'test/hostile/squares.test.ts', 'a saved run of a different program, imported'],
  ['11 a pooler', 'test/hostile/postgres-pooler.test.ts', 'a store is not made in a schema that nobody named'],
  ['low: depth of lineage', 'test/hostile/histories.test.ts', 'the lineage of a branch at the allowed depth'],
  ['low: erased while copied', 'test/contract/copying.test.ts', 'erased at the source while the copy is proved'],
  ['low: an empty file', 'test/hostile/files.test.ts', 'looking at an empty file makes no store of it'],
  ['low: a FIFO', 'test/hostile/files.test.ts', 'a FIFO and a directory are refused'],
  ['low: wrong types', 'test/hostile/verbs.test.ts', 'refuses them with a RepriseError'],
  ['server: tokens', 'test/server/tokens.test.ts', 'no token, a wrong one, and one that is almost right'],
  [
    'server: tokens that ended',
    'test/server/tokens.test.ts',
    'a token ends when it expires, and soon after it is revoked',
  ],
  ['server: before the body', 'test/server/tokens.test.ts', 'a token is checked before the body is read'],
  ['server: rights', 'test/server/rights.test.ts', 'takes the right'],
  ['server: agents', 'test/server/bound-agent.test.ts', 'everything else is denied'],
  ['server: namespaces', 'test/server/tokens.test.ts', 'a namespace of others is denied, whether it exists or not'],
  ['server: namespaces by every call', 'test/server/fuzz.test.ts', 'random requests to %s get an answer or a code'],
  ['server: forged ids and paths', 'test/server/threats.test.ts', 'forged ids and paths'],
  ['server: oversized', 'test/server/limits.test.ts', 'a body over "serverBodyBytesMax" is refused'],
  ['server: cut', 'test/server/bad-requests.test.ts', 'refuses a gRPC frame that is cut'],
  ['server: malformed', 'test/server/bad-requests.test.ts', 'refuses %s, and says where'],
  ['server: bombs', 'test/server/bad-requests.test.ts', 'refuses a body that unpacks to too many bytes'],
  ['server: in flight', 'test/server/limits.test.ts', 'requests over "serverBytesInFlightMax" together'],
  ['server: rates', 'test/server/limits.test.ts', 'calls of a token over "serverCallsPerSecondMax"'],
  ['server: rapid resets', 'test/server/threats.test.ts', 'a client that opens and resets calls without end'],
  ['server: idle connections', 'test/server/limits.test.ts', 'connections over "serverConnectionsMax" are ended'],
  ['server: slow bodies', 'test/server/limits.test.ts', 'whose body does not come within "serverBodyMsMax"'],
  ['server: a reader that stops', 'test/server/limits.test.ts', 'a client that takes nothing for "serverStalledMsMax"'],
  ['server: a writer that lies', 'test/server/not-believed.test.ts', 'a note under the key of an agent’s state'],
  ['server: other sites', 'test/server/tokens.test.ts', 'so that no page of a different site gets in'],
  ['server: clear text', 'test/server/tokens.test.ts', 'an address that other machines reach needs TLS'],
  ['server: logs', 'test/server/tokens.test.ts', 'no line of the log holds a token, its hash or a payload'],
  ['server: patterns', 'test/server/threats.test.ts', 'a pattern that would hold an engine that backtracks'],
  ['studio: other sites', 'test/server/studio.test.ts', 'pages and calls are refused to %s, also with the token'],
  ['studio: its policy', 'test/server/studio.test.ts', 'pages come under a policy that runs nothing of others'],
  ['studio: its token', 'test/server/command.test.ts', 'studio prints its address with a token of its own'],
  ['studio: what acts', 'test/server/studio-bounds.test.ts', 'recorded text arrives as it is'],
  ['studio: what is large', 'test/server/studio-bounds.test.ts', 'the answer of %s has a bound'],
  ['studio: a token that ends', 'test/server/studio.test.ts', 'a stream that always has news ends with its token'],
  ['studio: rights', 'test/server/studio.test.ts', 'a token starts only what its rights and namespaces allow'],
  ['studio: answers', 'test/server/studio.test.ts', 'a question is answered once, from any page'],
  ['studio: exported secrets', 'test/server/exported-page.test.ts', 'leaves out what the masking of recordings'],
  ['studio: exported code', 'test/server/exported-page.test.ts', 'is one file that lets nothing else run'],
  ['low: an id after an erasure', 'test/hostile/histories.test.ts', 'a new event under it is refused, not swallowed'],
];

describe('each finding has its test', () => {
  test.each(lines)('%s', (_finding, file, title) => {
    expect(readFileSync(join(root, file), 'utf8')).toContain(title);
  });
});
