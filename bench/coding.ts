/** Coding sessions: contexts, exports, reports and patches, and whether a context has what it must. */
import { defaultCounter } from '../src/core/coding/context.ts';
import { type EventDraft, openReprise, readTestReport, type Session } from '../src/index.ts';
import { codingWork, sharesPiece } from './coding-workload.ts';
import { atLeast, atMost, bytes, forTheRecord, median, percent, type Row, spread, timeEach } from './measure.ts';
import { randomSource, textSource } from './workload.ts';
import { open, type Workspace } from './workspace.ts';

/** With constraints, files and tests, about 500 records. */
const facts = 330;
const batch = 2_000;

/** Rows of coding sessions. */
export async function benchCoding(workspace: Workspace): Promise<Row[]> {
  const { isQuick } = workspace.sizes;
  const [long, short] = isQuick ? [1_200, 600] : [100_000, 10_000];
  return [
    await contextRow(workspace, long, 10),
    await contextRow(workspace, short, 5),
    await exportRow(workspace, isQuick ? 600 : 10_000),
    ...(await reportRows(isQuick ? 1 : 60)),
    await patchRow(workspace, isQuick ? 50 : 1_000),
    ...(await qualityRows(isQuick)),
  ];
}

/** Events of a coding session of about the size that agents write, whose records stay about 500 however long it is. */
function steadyDrafts(count: number): EventDraft[] {
  const random = randomSource(5);
  const text = textSource(random);
  return Array.from({ length: count }, (_, index): EventDraft => {
    const ten = Math.floor(index / 10);
    switch (index % 10) {
      case 0:
      case 1:
        return { type: 'message.added', data: { message: { role: 'user', content: text(900) } } };
      case 2:
      case 3:
        return {
          type: 'file.patched',
          data: { path: `src/file-${ten % 100}.ts`, patch: text(700), summary: 'changed' },
        };
      case 4: {
        const failing = Array.from({ length: 40 }, (_item, test) => test).filter(() => random() < 0.2);
        const failures = failing.map((test) => ({ test: `a.test.ts::case ${test}`, message: text(200) }));
        return { type: 'tests.ran', data: { command: 'npm test', exitCode: 1, failures } };
      }
      case 5:
        return { type: 'constraint.set', data: { key: `k${ten % 20}`, text: `Rule ${ten % 20}`, strength: 'hard' } };
      case 6:
      case 7:
        return {
          type: 'call.ended',
          data: { call: `c${ten}`, kind: 'tool', name: 'read', outcome: 'ok', output: text(900) },
        };
      default: {
        const which = (2 * ten + (index % 2)) % facts;
        return { type: 'note.added', data: { text: `A fact worth keeping, number ${which}, of this project` } };
      }
    }
  });
}

async function append(session: Session, drafts: readonly EventDraft[]): Promise<void> {
  for (let at = 0; at < drafts.length; at += batch) await session.append(drafts.slice(at, at + batch));
}

async function contextRow(workspace: Workspace, events: number, limit: number): Promise<Row> {
  await using opened = await open(workspace.path('coding.db'), 'process');
  const { session } = opened;
  await append(session, steadyDrafts(events));
  const building = await timeEach(1, () => session.coding.context());
  const random = randomSource(7);
  const times: number[] = [];
  for (let look = 0; look < (workspace.sizes.isQuick ? 3 : 60); look++) {
    const seq = 1 + Math.floor(random() * events);
    times.push(await timeEach(1, () => session.at({ seq }).coding.context()));
  }
  const held = (await session.coding.replay()).records.length;
  return atMost({
    name: `context at any of ${events.toLocaleString('en')} events`,
    value: median(times),
    limit,
    unit: ' ms',
    detail: `${held} records; ${spread(times)}; the first look, which keeps the snapshots, took ${(building / 1_000).toFixed(2)} s`,
    cause: 'the value of the fold is parsed from a snapshot, and the events after it are folded.',
  });
}

async function exportRow(workspace: Workspace, events: number): Promise<Row> {
  await using opened = await open(workspace.path('export.db'), 'process');
  const { session } = opened;
  await session.coding.startRun({ run: 'run-1' });
  await append(
    session,
    steadyDrafts(events).map((draft) => ({ ...draft, run: 'run-1' })),
  );
  await session.coding.endRun();
  const times: number[] = [];
  let size = 0;
  for (let round = 0; round < workspace.sizes.rounds; round++) {
    const dir = workspace.path('artifacts');
    times.push(
      await timeEach(1, async () => {
        const { files } = await session.coding.exportRun('run-1', dir);
        size = files.reduce((sum, file) => sum + file.bytes, 0);
      }),
    );
  }
  return atMost({
    name: `export of a run of ${events.toLocaleString('en')} events`,
    value: median(times),
    limit: 1_000,
    unit: ' ms',
    detail: `${bytes(size)} in 12 files; ${spread(times)}`,
    cause: 'every event is decoded and written as indented JSON.',
  });
}

async function reportRows(mebibytes: number): Promise<Row[]> {
  const tests = Math.ceil((mebibytes * 1_048_576) / 900);
  const failing = (index: number): boolean => index % 20 === 0;
  const noise = 'x'.repeat(700);
  const forms: Readonly<Record<string, { head: string; tail: string; item: (index: number) => string }>> = {
    'vitest JSON': {
      head: '{"success":false,"testResults":[{"name":"none","status":"passed","assertionResults":[]}',
      tail: ']}',
      item: (index) =>
        `,{"name":"f${index}.test.ts","status":"x","message":"","assertionResults":[{"ancestorTitles":["a"],"title":"t","status":"${failing(index) ? 'failed' : 'passed'}","failureMessages":[],"meta":{"output":"${noise}"}}]}`,
    },
    'JUnit XML': {
      head: '<testsuites>',
      tail: '</testsuites>',
      item: (index) =>
        `<testcase classname="f${index}.test.ts" name="t">${failing(index) ? `<failure message="m">${noise}</failure>` : `<system-out>${noise}</system-out>`}</testcase>`,
    },
    TAP: {
      head: 'TAP version 13\n',
      tail: `1..${tests}\n`,
      item: (index) => `${failing(index) ? 'not ok' : 'ok'} ${index} - t${index}\n# ${noise}\n`,
    },
    'pytest text': {
      head: '=== test session starts ===\n=== short test summary info ===\n',
      tail: `=== ${Math.ceil(tests / 20)} failed, ${tests - Math.ceil(tests / 20)} passed in 9.00s ===\n`,
      item: (index) => `${failing(index) ? 'FAILED' : 'PASSED'} tests/test_a.py::test_${index} - Error: ${noise}\n`,
    },
    'go test -json': {
      head: '{"Action":"start","Package":"p"}\n',
      tail: '{"Action":"fail","Package":"p"}\n',
      item: (index) =>
        `{"Action":"output","Package":"p","Test":"T${index}","Output":"${noise}"}\n{"Action":"${failing(index) ? 'fail' : 'pass'}","Package":"p","Test":"T${index}"}\n`,
    },
  };
  const rows: Row[] = [];
  for (const [name, form] of Object.entries(forms)) rows.push(await reportRow(name, form, tests));
  return rows;
}

async function reportRow(
  name: string,
  { head, tail, item }: { head: string; tail: string; item: (index: number) => string },
  tests: number,
): Promise<Row> {
  let [length, most] = [0, 0];
  // Pieces of a file are made before they are read, so that only reading is measured.
  function* pieces(): Generator<string> {
    yield head;
    for (let at = 0; at < tests; at += 64) {
      let piece = '';
      for (let index = at; index < Math.min(tests, at + 64); index++) piece += item(index);
      length += piece.length;
      const start = performance.now();
      yield piece;
      spent += performance.now() - start;
      most = Math.max(most, process.memoryUsage().heapUsed);
    }
    yield tail;
  }
  let spent = 0;
  const before = process.memoryUsage().heapUsed;
  const { failures } = await readTestReport(pieces());
  if (failures.length !== Math.ceil(tests / 20))
    throw new Error(`${name}: ${failures.length} failures of ${tests} tests`);
  return atLeast({
    name: `reading a report, ${name}`,
    value: length / 1_048_576 / (spent / 1_000),
    limit: 20,
    unit: ' MB/s',
    detail: `${bytes(length)}, ${tests.toLocaleString('en')} tests; at most ${bytes(Math.max(0, most - before))} more on the heap, the ids of the tests included`,
    cause: 'each character is looked at once.',
  });
}

async function patchRow(workspace: Workspace, patches: number): Promise<Row> {
  await using opened = await open(workspace.path('patches.db'), 'process');
  const { session } = opened;
  const lines = Array.from({ length: 200 }, (_, index) => `line ${index}\n`);
  const drafts: EventDraft[] = [{ type: 'file.patched', data: { path: 'a.ts', after: lines.join('') } }];
  for (let index = 0; index < patches; index++) {
    const at = index % lines.length;
    const next = `line ${at} of ${index}\n`;
    drafts.push({
      type: 'file.patched',
      data: { path: 'a.ts', patch: `@@ -${at + 1} +${at + 1} @@\n-${lines[at]}+${next}` },
    });
    lines[at] = next;
  }
  await append(session, drafts);
  const times: number[] = [];
  for (let round = 0; round < workspace.sizes.rounds; round++) {
    times.push(
      await timeEach(1, async () => {
        const [file] = await session.coding.files();
        if (file?.status !== 'known' || file.content !== lines.join(''))
          throw new Error('The file is not what its patches give');
      }),
    );
  }
  return atMost({
    name: `a file rebuilt from ${patches.toLocaleString('en')} patches`,
    value: median(times),
    limit: 50,
    unit: ' ms',
    detail: `200 lines; ${spread(times)}`,
    cause: 'every event is read, and its diff is parsed.',
  });
}

/** Counts what a context must and must not have, over generated sessions, compared with the transcript cut to the same budget. */
async function qualityRows(isQuick: boolean): Promise<Row[]> {
  const sessions = isQuick ? 2 : 20;
  const found = { wrong: 0, needed: 0, inCut: 0, share: 0 };
  for (let index = 0; index < sessions; index++) {
    const work = codingWork(isQuick ? 200 : 200 + Math.floor((index * 4_800) / (sessions - 1)), 100 + index);
    await using reprise = await openReprise('memory:');
    const session = await reprise.createSession('quality');
    await append(session, work.drafts);
    const transcript = work.drafts.map((draft) => `${JSON.stringify(draft)}\n`);
    const whole = transcript.reduce((sum, line) => sum + defaultCounter.count(line), 0);
    const budgetTokens = Math.min(8_000, Math.floor(whole / 4));
    const { text, tokens } = await session.coding.context({ budgetTokens });
    const cut = transcript.join('').slice(-4 * budgetTokens);
    const needed = [...work.constraints.map((rule) => rule.trim()), ...work.active];
    found.needed += needed.length;
    found.inCut += needed.filter((item) => cut.includes(item)).length;
    found.wrong += needed.filter((item) => !text.includes(item)).length;
    found.wrong += [...work.resolved].filter((test) => openLines(text).includes(test)).length;
    found.wrong += work.unsafe.filter((held) => sharesPiece(text, held)).length;
    found.share = Math.max(found.share, tokens / whole);
  }
  return [
    atMost({
      name: `mistakes in the contexts of ${sessions} coding sessions`,
      value: found.wrong,
      limit: 0,
      unit: '',
      detail: `${found.needed} hard constraints and active failures to show; nothing unsafe, nothing resolved shown as open`,
      cause: 'a context lacks what it must show, or shows what it must not.',
    }),
    atMost({
      name: 'the largest context as a share of its transcript',
      value: found.share * 100,
      limit: 25,
      unit: ' %',
      detail: 'in tokens, by the same counter',
      cause: 'the required records take more than the budget.',
    }),
    forTheRecord(
      'the same of the transcript cut to the same budget',
      percent(found.inCut / found.needed),
      'the share of hard constraints and active failures that its end still has',
    ),
  ];
}

/** Returns the lines of a context that list open failures. */
function openLines(text: string): string {
  const start = text.indexOf('## open_failures');
  return start < 0 ? '' : text.slice(start, text.indexOf('\n## ', start + 1));
}
