-- Times are microseconds since 1970.

-- What was decided, with what became of it: an entry of the log vouches for each part.
CREATE TABLE decisions (
    id INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    command TEXT NOT NULL,
    -- Of the command before its secrets were masked.
    command_hash BLOB NOT NULL,
    class INTEGER NOT NULL,
    requires INTEGER NOT NULL,
    response INTEGER,
    response_time_us INTEGER NOT NULL,
    confidence REAL NOT NULL,
    method INTEGER NOT NULL,
    timed_out INTEGER NOT NULL,
    reasoning TEXT NOT NULL,
    explanation TEXT NOT NULL,
    context TEXT,
    agent TEXT,
    session_id TEXT,
    cwd TEXT,
    call_id TEXT,
    denied INTEGER NOT NULL,
    rule TEXT,
    error TEXT,
    deadline INTEGER,
    secret_hash BLOB,
    decided_seq INTEGER NOT NULL,
    answered_at INTEGER,
    answered_by TEXT,
    answer_note TEXT,
    answered_seq INTEGER,
    executed_at INTEGER,
    exit_status INTEGER,
    executed_seq INTEGER
) STRICT;

CREATE INDEX decisions_at ON decisions (at);
CREATE INDEX decisions_class ON decisions (class, at);
CREATE INDEX decisions_response ON decisions (response, at) WHERE response IS NOT NULL;
CREATE INDEX decisions_class_response ON decisions (class, response, at) WHERE response IS NOT NULL;
CREATE INDEX decisions_agent ON decisions (agent, at) WHERE agent IS NOT NULL;
CREATE INDEX decisions_session ON decisions (session_id, at) WHERE session_id IS NOT NULL;
CREATE INDEX decisions_call ON decisions (call_id) WHERE call_id IS NOT NULL;
CREATE INDEX decisions_open ON decisions (deadline) WHERE response IS NULL AND deadline IS NOT NULL;

-- What a search for text reads: little, in the order in which it is shown.
CREATE TABLE searched (
    at INTEGER NOT NULL,
    id INTEGER NOT NULL,
    class INTEGER NOT NULL,
    requires INTEGER NOT NULL,
    response INTEGER,
    folded TEXT NOT NULL,
    PRIMARY KEY (at, id)
) STRICT, WITHOUT ROWID;

-- Everything that happened, in order; `hash` covers the one before.
CREATE TABLE log (
    seq INTEGER PRIMARY KEY,
    kind INTEGER NOT NULL,
    subject INTEGER NOT NULL,
    hash BLOB NOT NULL
) STRICT;

-- Where the log ends, and which numbers were given.
CREATE TABLE head (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    seq INTEGER NOT NULL,
    hash BLOB NOT NULL,
    decisions INTEGER NOT NULL,
    remembered INTEGER NOT NULL
) STRICT;

INSERT INTO head VALUES (1, 0, zeroblob(32), 0, 0);

-- Entries that a cleanup took away, with the hash of the last of each run of them.
CREATE TABLE gaps (
    first INTEGER PRIMARY KEY,
    last INTEGER NOT NULL,
    hash BLOB NOT NULL
) STRICT;

-- Approvals that were used: each serves once.
CREATE TABLE used (
    decision INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    seq INTEGER NOT NULL
) STRICT;

CREATE INDEX decisions_approved ON decisions (command_hash) WHERE response = 1;

CREATE TABLE cleanups (
    seq INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    done_by TEXT NOT NULL,
    older_than INTEGER NOT NULL,
    deleted INTEGER NOT NULL,
    remaining INTEGER NOT NULL,
    -- Of all gaps, as they were then.
    gaps_hash BLOB NOT NULL
) STRICT;

CREATE TABLE remembered (
    id INTEGER PRIMARY KEY,
    command_hash BLOB NOT NULL,
    command TEXT NOT NULL,
    cwd TEXT,
    session_id TEXT,
    agent TEXT,
    created_at INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    created_seq INTEGER NOT NULL,
    revoked_at INTEGER,
    revoked_by TEXT,
    revoked_seq INTEGER
) STRICT;

CREATE INDEX remembered_command ON remembered (command_hash) WHERE revoked_at IS NULL;

-- Running counts: of all time (unit 0), of a day (1), of an hour (2). No response is 0, no agent ''.
CREATE TABLE tallies (
    unit INTEGER NOT NULL,
    start INTEGER NOT NULL,
    class INTEGER NOT NULL,
    requires INTEGER NOT NULL,
    response INTEGER NOT NULL,
    agent TEXT NOT NULL,
    n INTEGER NOT NULL,
    timed_out INTEGER NOT NULL,
    -- The sum, in billionths: a sum of fractions would depend on their order.
    confidence INTEGER NOT NULL,
    high INTEGER NOT NULL,
    low INTEGER NOT NULL,
    PRIMARY KEY (unit, start, class, requires, response, agent)
) STRICT, WITHOUT ROWID;

-- How many answers took how many milliseconds, by the same units.
CREATE TABLE times (
    unit INTEGER NOT NULL,
    start INTEGER NOT NULL,
    ms INTEGER NOT NULL,
    n INTEGER NOT NULL,
    PRIMARY KEY (unit, start, ms)
) STRICT, WITHOUT ROWID;
