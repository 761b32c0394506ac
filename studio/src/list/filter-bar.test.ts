import { expect, test } from 'vitest';
import { EventIndex } from '../history/event-index.ts';
import { suggestionsFor } from './filter-bar.tsx';

const index = new EventIndex();
index.put([
  { seq: 1, time: 1, type: 'call.started', turn: 0, agent: 'support', kind: 'tool', name: 'look up' },
  { seq: 2, time: 2, type: 'call.ended', turn: 0, agent: 'writer', kind: 'model', name: 'large-1' },
]);

test('the last word is completed with names, then with what the history holds', () => {
  expect(suggestionsFor('kind=tool ou', index)).toEqual(['outcome=']);
  expect(suggestionsFor('agent=', index)).toEqual(['agent=support', 'agent=writer']);
  expect(suggestionsFor('agent=WRI', index)).toEqual(['agent=writer']);
  expect(suggestionsFor('tool=look', index)).toEqual(['tool="look up"']);
  expect(suggestionsFor('since=2', index)).toEqual([]);
});
