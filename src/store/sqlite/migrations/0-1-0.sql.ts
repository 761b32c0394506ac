/** The schema as release 0.1.0 wrote it. Never changed again: files of that release look like this forever. */
export const schema010 = `
CREATE TABLE namespaces (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE sessions (
  id INTEGER PRIMARY KEY,
  namespace_id INTEGER NOT NULL,
  name TEXT, -- null while a deleted session is being cleared away
  genesis TEXT NOT NULL,
  seed TEXT NOT NULL,
  root TEXT NOT NULL,
  created_at TEXT NOT NULL,
  erasures INTEGER NOT NULL DEFAULT 0,
  touched INTEGER NOT NULL, -- rises with each change of the session that was appended to last
  UNIQUE (namespace_id, name)
) STRICT;
CREATE UNIQUE INDEX sessions_touched ON sessions (touched);
CREATE INDEX sessions_namespace_touched ON sessions (namespace_id, touched);
CREATE INDEX sessions_deleted ON sessions (id) WHERE name IS NULL;

CREATE TABLE branches (
  id INTEGER PRIMARY KEY,
  session_id INTEGER NOT NULL,
  name TEXT NOT NULL,
  parent_id INTEGER,
  parent_seq INTEGER,
  erased_bytes INTEGER NOT NULL DEFAULT 0, -- of events and parts that were forgotten, less what rewritten parts grew by
  UNIQUE (session_id, name)
) STRICT;

-- The head of a branch is its last event: an append touches this table and its two indexes, and nothing else.
CREATE TABLE events (
  session_id INTEGER NOT NULL,
  branch_id INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  id TEXT NOT NULL,
  time TEXT NOT NULL,
  type TEXT NOT NULL,
  version INTEGER NOT NULL,
  agent TEXT,
  run TEXT,
  turn INTEGER NOT NULL,
  cause TEXT,
  cause_seq INTEGER,
  marker INTEGER, -- 1 for a structural event
  branch_bytes INTEGER NOT NULL, -- of events that the branch had stored with this one
  part_bytes INTEGER NOT NULL, -- of parts that the branch had brought to the session with this append
  digest TEXT NOT NULL,
  data_digest TEXT, -- only of an erased payload
  salt TEXT,
  data TEXT -- last, so that reading a header never touches a large payload
); -- not STRICT: checking every column of every event costs a fifth of an append
CREATE UNIQUE INDEX events_place ON events (branch_id, seq);
CREATE UNIQUE INDEX events_id ON events (session_id, id);
CREATE INDEX events_markers ON events (branch_id, seq) WHERE marker = 1;

CREATE TABLE event_keys (
  branch_id INTEGER NOT NULL,
  key TEXT NOT NULL,
  seq INTEGER NOT NULL,
  PRIMARY KEY (branch_id, key, seq)
) STRICT, WITHOUT ROWID;

-- How far the clocks of a branch had come with an event whose own time or turn lies behind: derived, and usually empty.
CREATE TABLE clocks (
  branch_id INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  time TEXT, -- the latest of the branch up to the event; null if that is its own
  turn INTEGER, -- the highest; likewise
  PRIMARY KEY (branch_id, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE parts (
  id INTEGER PRIMARY KEY,
  namespace_id INTEGER NOT NULL,
  digest BLOB NOT NULL,
  kind TEXT NOT NULL,
  salt TEXT,
  damaged INTEGER NOT NULL DEFAULT 0, -- 1 where an erasure left a hole; such a part belongs to one session
  refs TEXT, -- JSON; null when there are none
  text TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX parts_digest ON parts (namespace_id, digest) WHERE damaged = 0;

CREATE TABLE part_holders (
  session_id INTEGER NOT NULL,
  digest BLOB NOT NULL,
  part_id INTEGER NOT NULL,
  branch_id INTEGER NOT NULL, -- the branch that brought it
  bytes INTEGER NOT NULL, -- of the text as this session was given it
  PRIMARY KEY (session_id, digest)
) STRICT, WITHOUT ROWID;
CREATE INDEX part_holders_part ON part_holders (part_id);

CREATE TABLE snapshots (
  branch_id INTEGER NOT NULL,
  projection TEXT NOT NULL,
  version TEXT NOT NULL,
  upcasts INTEGER NOT NULL,
  erasures INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  digest TEXT NOT NULL,
  value TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX snapshots_place ON snapshots (branch_id, projection, version, upcasts, erasures, seq);

CREATE TABLE receipts (
  session_id INTEGER NOT NULL,
  digest TEXT NOT NULL,
  kind TEXT NOT NULL,
  created_at TEXT NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (session_id, digest, kind)
) STRICT;
`;
