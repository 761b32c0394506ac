/**
 * The schema as release 0.1.0 wrote it. Never changed again: databases of that release look like this forever.
 *
 * Every key of what belongs to a session is led by its namespace and session, and that of a part by its namespace, so
 * that the tables can be spread over machines by session. Names are compared byte by byte, whatever the database's
 * collation is.
 */
export const schema010 = `
CREATE TABLE namespaces (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text COLLATE "C" NOT NULL UNIQUE
);

CREATE SEQUENCE touches;

CREATE TABLE sessions (
  namespace_id integer NOT NULL,
  id bigint GENERATED ALWAYS AS IDENTITY,
  erasures integer NOT NULL DEFAULT 0,
  branches integer NOT NULL, -- how many there ever were: the number of the last one
  touched bigint NOT NULL, -- rises with each change of the session that was appended to last
  name text COLLATE "C", -- null while a deleted session is being cleared away
  genesis text NOT NULL,
  seed text NOT NULL,
  root text NOT NULL,
  created_at text NOT NULL,
  PRIMARY KEY (namespace_id, id),
  UNIQUE (namespace_id, name)
) WITH (fillfactor = 70);
CREATE INDEX sessions_touched ON sessions (touched);
CREATE INDEX sessions_namespace_touched ON sessions (namespace_id, touched);
CREATE INDEX sessions_deleted ON sessions (namespace_id, id) WHERE name IS NULL;

-- The row of a branch is rewritten with every append: half of each page is left free for that, and no index knows what changes.
CREATE TABLE branches (
  namespace_id integer NOT NULL,
  session_id bigint NOT NULL,
  id integer NOT NULL, -- counted within the session
  parent_id integer,
  parent_seq bigint,
  depth integer NOT NULL,
  head bigint NOT NULL,
  turn bigint NOT NULL,
  epoch bigint NOT NULL,
  marker bigint NOT NULL, -- the seq of the last structural event that it stores, 0 if there is none
  touched bigint NOT NULL,
  event_bytes bigint NOT NULL DEFAULT 0,
  part_bytes bigint NOT NULL DEFAULT 0, -- of parts that its appends brought to the session
  erased_bytes bigint NOT NULL DEFAULT 0, -- of events and parts that were forgotten, less what rewritten parts grew by
  highest_turn bigint NOT NULL DEFAULT -1, -- among the events that it stores
  latest_time text COLLATE "C" NOT NULL DEFAULT '', -- likewise
  name text COLLATE "C" NOT NULL,
  digest text NOT NULL,
  created_at text NOT NULL,
  updated_at text NOT NULL,
  PRIMARY KEY (namespace_id, session_id, id),
  UNIQUE (namespace_id, session_id, name)
) WITH (fillfactor = 50);

CREATE TABLE events (
  namespace_id integer NOT NULL,
  session_id bigint NOT NULL,
  branch_id integer NOT NULL,
  version bigint NOT NULL,
  seq bigint NOT NULL,
  turn bigint NOT NULL,
  cause_seq bigint,
  branch_bytes bigint NOT NULL, -- of events that the branch had stored with this one
  highest_turn bigint, -- of the branch up to this event, and null if that is its own: derived, and only ever rising
  marker boolean NOT NULL, -- whether it is structural
  id text COLLATE "C" NOT NULL,
  time text COLLATE "C" NOT NULL,
  latest_time text COLLATE "C", -- of the branch up to this event, and null if that is its own: likewise
  type text COLLATE "C" NOT NULL,
  agent text COLLATE "C",
  run text COLLATE "C",
  cause text COLLATE "C",
  digest text NOT NULL,
  data_digest text, -- only of an erased payload
  salt text,
  data text,
  PRIMARY KEY (namespace_id, session_id, branch_id, seq)
);
CREATE UNIQUE INDEX events_id ON events (namespace_id, session_id, id);
CREATE INDEX events_markers ON events (namespace_id, session_id, branch_id, seq) WHERE marker;

CREATE TABLE event_keys (
  namespace_id integer NOT NULL,
  session_id bigint NOT NULL,
  branch_id integer NOT NULL,
  seq bigint NOT NULL,
  key text COLLATE "C" NOT NULL,
  PRIMARY KEY (namespace_id, session_id, branch_id, key, seq)
);

CREATE TABLE parts (
  namespace_id integer NOT NULL,
  id bigint GENERATED ALWAYS AS IDENTITY,
  damaged boolean NOT NULL DEFAULT false, -- where an erasure left a hole; such a part belongs to one session
  digest bytea NOT NULL,
  kind text NOT NULL,
  salt text,
  refs text[], -- null when there are none
  text text NOT NULL,
  PRIMARY KEY (namespace_id, id)
);
CREATE UNIQUE INDEX parts_digest ON parts (namespace_id, digest) WHERE NOT damaged;

CREATE TABLE part_holders (
  namespace_id integer NOT NULL,
  session_id bigint NOT NULL,
  part_id bigint NOT NULL,
  bytes bigint NOT NULL, -- of the text as this session was given it
  branch_id integer NOT NULL, -- the branch that brought it
  digest bytea NOT NULL,
  PRIMARY KEY (namespace_id, session_id, digest)
);
CREATE INDEX part_holders_part ON part_holders (namespace_id, part_id);

CREATE TABLE snapshots (
  namespace_id integer NOT NULL,
  session_id bigint NOT NULL,
  branch_id integer NOT NULL,
  upcasts integer NOT NULL,
  erasures integer NOT NULL,
  seq bigint NOT NULL,
  projection text COLLATE "C" NOT NULL,
  version text COLLATE "C" NOT NULL,
  digest text NOT NULL,
  value text NOT NULL,
  PRIMARY KEY (namespace_id, session_id, branch_id, projection, version, upcasts, erasures, seq)
);

CREATE TABLE receipts (
  namespace_id integer NOT NULL,
  session_id bigint NOT NULL,
  digest text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  created_at text NOT NULL,
  body text NOT NULL,
  PRIMARY KEY (namespace_id, session_id, digest, kind)
);
`;
