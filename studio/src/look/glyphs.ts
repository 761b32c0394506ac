/** A color of the tokens that means something. */
type Hue = 'model' | 'tool' | 'wire' | 'person' | 'state' | 'message' | 'ok' | 'error' | 'warning' | 'dim';

/** How an event looks: a glyph and a color, and a word for those who see neither. */
export interface Look {
  readonly glyph: string;
  readonly hue: Hue;
  readonly word: string;
}

const kinds: Readonly<Record<string, Look>> = {
  model: { glyph: '◇', hue: 'model', word: 'model call' },
  tool: { glyph: '⚙', hue: 'tool', word: 'tool call' },
  http: { glyph: '⇄', hue: 'wire', word: 'HTTP call' },
  mcp: { glyph: '⇄', hue: 'wire', word: 'MCP call' },
  process: { glyph: '⇄', hue: 'wire', word: 'process' },
  person: { glyph: '☺', hue: 'person', word: 'question to a person' },
};

const otherKind: Look = { glyph: '⇄', hue: 'wire', word: 'call' };

/** Returns how a call of a kind looks. */
export const lookOfKind = (kind: string): Look => kinds[kind] ?? otherKind;

const types: readonly (readonly [pattern: RegExp, look: Look])[] = [
  [/^run\.started$/, { glyph: '▸', hue: 'dim', word: 'run started' }],
  [/^run\.ended$/, { glyph: '■', hue: 'dim', word: 'run ended' }],
  [/^turn\./, { glyph: '▸', hue: 'dim', word: 'turn' }],
  [/^message\./, { glyph: '▤', hue: 'message', word: 'message' }],
  [/^branch\.forked$/, { glyph: '↗', hue: 'person', word: 'fork' }],
  [/^branch\.rewound$/, { glyph: '↶', hue: 'warning', word: 'rewind' }],
  [/^event\.reverted$/, { glyph: '↶', hue: 'warning', word: 'taken out' }],
  [/^event\.(?:replaced|inserted)$/, { glyph: '✎', hue: 'warning', word: 'edit' }],
  [/^payload\.erased$/, { glyph: '▒', hue: 'warning', word: 'erasure' }],
  [/^(?:state|settings|metadata|graph)\./, { glyph: '◆', hue: 'state', word: 'state' }],
  [/^belief\./, { glyph: '◈', hue: 'state', word: 'belief' }],
  [/^note\./, { glyph: '✎', hue: 'person', word: 'note' }],
  [/^(?:task|verification)\./, { glyph: '☑', hue: 'tool', word: 'task' }],
];

const otherType: Look = { glyph: '·', hue: 'message', word: 'event' };

/** Returns how an event looks. */
export function lookOf(type: string, kind: string): Look {
  if (type === 'call.started' || type === 'call.ended') return lookOfKind(kind);
  return types.find(([pattern]) => pattern.test(type))?.[1] ?? otherType;
}

const outcomes: Readonly<Record<string, Look>> = {
  ok: { glyph: '✓', hue: 'ok', word: 'ok' },
  error: { glyph: '✕', hue: 'error', word: 'error' },
  aborted: { glyph: '◼', hue: 'warning', word: 'aborted' },
  interrupted: { glyph: '◼', hue: 'warning', word: 'interrupted' },
  budget: { glyph: '◼', hue: 'warning', word: 'budget' },
  waiting: { glyph: '☺', hue: 'person', word: 'waiting' },
  silent: { glyph: '●', hue: 'model', word: 'running' },
};

/** Returns how an outcome looks. */
export function lookOfOutcome(outcome: string | null): Look {
  if (outcome === null || outcome === '') return { glyph: '–', hue: 'dim', word: 'no run' };
  return outcomes[outcome] ?? { glyph: '–', hue: 'dim', word: outcome };
}
