/** Secrets of every documented kind in every option that takes text, looked for in the raw store. */
import { expect, test } from 'vitest';
import {
  fileContent,
  type Plant,
  type Planted,
  plantIn,
  secretsIn,
  withBytes,
} from '../../frameworks/planted-secrets.ts';
import { allRows } from '../../postgres/place.ts';
import { Place, refundEvents } from './run.ts';

/** An agent that answers what it was asked, and a masking with rules of its own, or none. */
const configOf = (masking: string): string => `
const support = async ({ recorder, prompt, messages }) => recorder.call(
  { kind: 'model', name: 'small-1', request: { messages: [...messages, ...(prompt === undefined ? [] : [prompt])] } },
  async () => 'Done.',
  (text) => ({ message: { role: 'assistant', content: text } }));
export default { agents: { support }, masking: ${masking} };
`;
const ownMasking = `{ rules: [{ name: 'customer', pattern: /CUST-\\w+/ }, { name: 'iban', fields: ['iban'] }] }`;

/** The words of a command, for the session that it works on; a plant goes into a file where an option takes one. */
type Words = (session: string, plant: Plant, file: (value: unknown) => string) => readonly string[];
interface Command {
  readonly kind: Planted['kind'];
  readonly words: Words;
  readonly stdin?: (plant: Plant) => string;
}

const text = (words: Words): Command => ({ kind: 'text', words });
const value = (words: Words): Command => ({ kind: 'value', words });
const note = (plant: Plant): object => ({ type: 'note.added', data: { text: plant.text, more: plant.value } });
const message = (plant: Plant): object => ({
  role: 'user',
  content: plant.text,
  providerOptions: { own: plant.value },
});

const commands: Readonly<Record<string, Command>> = {
  'fork --prompt': text((s, plant) => ['fork', `${s}@2`, '--prompt', plant.text]),
  'fork --system': text((s, plant) => ['fork', s, '--system', plant.text]),
  'fork --reason': text((s, plant) => ['fork', s, '--reason', plant.text]),
  'fork --meta': value((s, plant) => ['fork', s, '--meta', `own=${JSON.stringify(plant.value)}`]),
  'fork --set': value((s, plant) => ['fork', s, '--set', `own=${JSON.stringify(plant.value)}`]),
  'fork --tools': value((s, plant, file) => ['fork', s, '--tools', file([{ name: 'x', own: plant.value }])]),
  'fork --message': value((s, plant, file) => ['fork', s, '--message', `2=${file(message(plant))}`]),
  'fork --tool-input': value((s, plant, file) => ['fork', s, '--tool-input', `5=${file(plant.value)}`]),
  'fork --tool-result': value((s, plant, file) => ['fork', s, '--tool-result', `6=${file(plant.value)}`]),
  'fork --replace': value((s, plant, file) => ['fork', s, '--replace', `2=${file(note(plant))}`]),
  'fork --insert': value((s, plant, file) => ['fork', s, '--insert', `2=${file(note(plant))}`]),
  'fork --append': value((s, plant, file) => ['fork', s, '--append', file(note(plant))]),
  'fork --belief': text((s, plant, file) => ['fork', s, '--belief', file({ topic: 'x', claim: plant.text })]),
  'edit --append': value((s, plant, file) => ['edit', s, '--append', file(note(plant))]),
  'edit --reason': text((s, plant) => ['edit', s, '--drop', '2', '--reason', plant.text]),
  'rewind --reason': text((s, plant) => ['rewind', `${s}@3`, '--reason', plant.text]),
  'revert --reason': text((s, plant) => ['revert', `${s}@2`, '--reason', plant.text]),
  'erase --reason': text((s, plant) => ['erase', `${s}@2`, '--yes', '--reason', plant.text]),
  set: value((s, plant) => ['set', s, 'own', JSON.stringify(plant.value)]),
  'set --file': value((s, plant, file) => ['set', s, 'own', '--file', file(plant.value)]),
  'set, from stdin': { ...value((s) => ['set', s, 'own']), stdin: (plant) => JSON.stringify(plant.value) },
  'set of a key named like a secret': text((s, plant) => ['set', s, 'db.password', JSON.stringify(plant.text)]),
  'resume --prompt': text((s, plant) => ['resume', s, '--prompt', plant.text]),
  'resume --run': value((s, plant) => ['resume', s, '--prompt', 'And?', '--run', JSON.stringify(plant.value)]),
  'retry --extra-context': text((s, plant) => ['retry', s, '--extra-context', plant.text]),
  'retry --reason': text((s, plant) => ['retry', s, '--reason', plant.text]),
  'experiment --variants': value((s, plant, file) => [
    'experiment',
    `${s}@2`,
    '--variants',
    file([{ name: 'x', prompt: plant.text, edits: [{ kind: 'append', event: note(plant) }] }]),
  ]),
  'experiment --reason': text((s, plant, file) => [
    'experiment',
    `${s}@2`,
    '--reason',
    plant.text,
    '--variants',
    file([{ name: 'x' }]),
  ]),
};

/** Runs every command on a session of its own, and says what it planted and what it printed. */
async function plantAll(place: Place): Promise<{ readonly planted: Planted[]; readonly printed: string }> {
  const planted: Planted[] = [];
  let printed = '';
  let files = 0;
  const file = (content: unknown): string => place.write(`planted-${++files}.json`, content);
  for (const [name, { kind, words, stdin }] of Object.entries(commands)) {
    const session = `s${planted.length}`;
    await using reprise = await place.open({ durability: 'process' });
    await (await reprise.createSession(session)).append(refundEvents());
    const plant = plantIn(name);
    const input = stdin === undefined ? {} : { stdin: stdin(plant) };
    const { code, stdout, stderr } = await place.run(words(session, plant, file), input);
    expect([name, code, code === 0 ? '' : stderr]).toEqual([name, 0, '']);
    printed += stdout + stderr;
    planted.push({ plant, kind });
  }
  return { planted, printed };
}

const contentOf = async (place: Place): Promise<Buffer> =>
  place.isFile ? fileContent(place.store) : withBytes(await allRows(place.url));

test('no secret that is typed is anywhere in the store, and the commands say what they masked', async () => {
  using place = new Place();
  place.write('reprise.config.mjs', configOf(ownMasking));
  expect(await place.run(['config', '--save'])).toMatchObject({ code: 0 });
  const { planted, printed } = await plantAll(place);
  expect(secretsIn(planted, await contentOf(place))).toEqual([]);
  expect(printed).toMatch(/Masked before it is stored: .*secret-field/);
});

test('without masking every one of them is there, so the search finds them', async () => {
  using place = new Place();
  place.write('reprise.config.mjs', configOf('false'));
  expect(await place.run(['config', '--save'])).toMatchObject({ code: 0 });
  const { planted, printed } = await plantAll(place);
  expect(secretsIn(planted, await contentOf(place), false)).toEqual([]);
  expect(printed).not.toContain('Masked before');
});
