/** The JSON of commands that change and prove: its shape is a contract, told in docs/reference/cli.md. */
import { afterAll, beforeEach, expect, test } from 'vitest';
import { defaultUrl, dropFixtures, isOnServer, type Place, refundPlace, shapeOf, writeAgentFiles } from './run.ts';

let place: Place;

beforeEach(async () => {
  place = await refundPlace();
  writeAgentFiles(place);
  return () => place[Symbol.dispose]();
});
afterAll(dropFixtures);

test.each([
  ['fork', ['fork', 'refund@4', '--prompt', 'x', '--drop', '3', '--model', 'm', '--reason', 'r', '--by', 'ada']],
  ['edit', ['edit', 'refund', '--drop', '5']],
  ['rewind', ['rewind', 'refund@4']],
  ['revert', ['revert', 'refund@5']],
  ['erase', ['erase', 'refund@2', '--yes']],
  ['erase --dry-run', ['erase', 'refund@2', '--dry-run']],
  ['delete-session', ['delete-session', 'refund', '--yes']],
  ['counterfactual', ['counterfactual', 'refund', '--exclude', '5', '--projection', 'metadata']],
  ['get', ['get', 'refund', 'none']],
  ['set', ['set', 'refund', 'plan', '{"next":"ask"}']],
  ['delete', ['delete', 'refund', 'none']],
  ['fingerprint', ['fingerprint', 'refund']],
  ['verify', ['verify', 'refund']],
  ['verify --deep', ['verify', 'refund', '--deep']],
  ['repair', ['repair', 'refund']],
  ['doctor', ['doctor', '--verify']],
  ['completion', ['completion', 'bash']],
  ['resume', ['resume', 'refund/careful', '--prompt', 'x']],
  ['resume --user-turns', ['resume', 'refund/careful', '--user-turns', 'recorded']],
  ['retry', ['retry', 'refund', '--model', 'large-1']],
  ['import', ['import', 'run-abc.json']],
  ['export', ['export', 'refund', '--format', 'shipit']],
  ['export of a bundle', ['export', 'refund', '--to', 'refund.tgz', '--redact', 'note.added']],
  ['prove', ['prove', 'refund@2']],
  ['key', ['key', 'new', '--file', 'own.pem']],
  ['config', ['config']],
  ['coding', ['coding', 'record', 'goal', 'refund', 'Refund it']],
  ['copy', ['copy', 'sqlite:.reprise/reprise.db', 'sqlite:copy.db']],
])('%s', async (_, words) => {
  const told = await place.json(...words.map((word) => (word === defaultUrl ? place.url : word)));
  // Nobody but the server knows how much room there is on its disk.
  if (isOnServer && told['freeBytes'] === null) told['freeBytes'] = 0;
  expect(shapeOf(told)).toMatchSnapshot();
});

test('redo', async () => {
  await place.json('rewind', 'refund@4');
  expect(shapeOf(await place.json('redo', 'refund'))).toMatchSnapshot();
});

test('fingerprint --expect, when it is not the same', async () => {
  place.write('kept.json', await place.json('fingerprint', 'refund'));
  expect(shapeOf(await place.json('fingerprint', 'refund/careful', '--expect', 'kept.json'))).toMatchSnapshot();
});

test('verify, when it is not what was recorded', async () => {
  expect(shapeOf(await place.json('verify', 'refund', '--head', 'a'.repeat(64)))).toMatchSnapshot();
});

test.each([
  ['tree', ['tree', 'refund']],
  ['experiment', ['experiment', 'refund@2', '--variants', 'variants.json', '--check', 'true']],
])('%s, as lines and as one object', async (_, words) => {
  const { stdout } = await place.run([...words, '--json']);
  const lines = stdout
    .trim()
    .split('\n')
    .map((line): unknown => JSON.parse(line));
  expect(
    [...new Set(lines.map((line) => JSON.stringify(shapeOf(line))))].map((text): unknown => JSON.parse(text)),
  ).toMatchSnapshot('lines');
  expect(shapeOf(JSON.parse((await place.run([...words, '--json=object'])).stdout))).toMatchSnapshot('object');
});

test('an error', async () => {
  const { stderr } = await place.run(['verify', 'refnud', '--json']);
  expect(shapeOf(JSON.parse(stderr))).toMatchSnapshot();
});
