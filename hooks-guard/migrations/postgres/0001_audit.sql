-- Times are microseconds since 1970.

-- What was decided, with what became of it: an entry of the log vouches for each part.
CREATE TABLE decisions (
    id BIGINT PRIMARY KEY,
    at BIGINT NOT NULL,
    command TEXT NOT NULL,
    -- Of the command before its secrets were masked.
    command_hash BYTEA NOT NULL,
    class BIGINT NOT NULL,
    requires BIGINT NOT NULL,
    response BIGINT,
    response_time_us BIGINT NOT NULL,
    confidence DOUBLE PRECISION NOT NULL,
    method BIGINT NOT NULL,
    timed_out BIGINT NOT NULL,
    reasoning TEXT NOT NULL,
    explanation TEXT NOT NULL,
    context TEXT,
    agent TEXT,
    session_id TEXT,
    cwd TEXT,
    call_id TEXT,
    denied BIGINT NOT NULL,
    rule TEXT,
    error TEXT,
    deadline BIGINT,
    secret_hash BYTEA,
    decided_seq BIGINT NOT NULL,
    answered_at BIGINT,
    answered_by TEXT,
    answer_note TEXT,
    answered_seq BIGINT,
    executed_at BIGINT,
    exit_status BIGINT,
    executed_seq BIGINT
);

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
    at BIGINT NOT NULL,
    id BIGINT NOT NULL,
    class BIGINT NOT NULL,
    requires BIGINT NOT NULL,
    response BIGINT,
    folded TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (at, id)
);

-- Everything that happened, in order; `hash` covers the one before.
CREATE TABLE log (
    seq BIGINT PRIMARY KEY,
    kind BIGINT NOT NULL,
    subject BIGINT NOT NULL,
    hash BYTEA NOT NULL
);

-- Where the log ends, and which numbers were given.
CREATE TABLE head (
    one BIGINT PRIMARY KEY CHECK (one = 1),
    seq BIGINT NOT NULL,
    hash BYTEA NOT NULL,
    decisions BIGINT NOT NULL,
    remembered BIGINT NOT NULL
);

INSERT INTO head VALUES (1, 0, decode(repeat('00', 32), 'hex'), 0, 0);

-- Entries that a cleanup took away, with the hash of the last of each run of them.
CREATE TABLE gaps (
    first BIGINT PRIMARY KEY,
    last BIGINT NOT NULL,
    hash BYTEA NOT NULL
);

-- Approvals that were used: each serves once.
CREATE TABLE used (
    decision BIGINT PRIMARY KEY,
    at BIGINT NOT NULL,
    seq BIGINT NOT NULL
);

CREATE INDEX decisions_approved ON decisions (command_hash) WHERE response = 1;

CREATE TABLE cleanups (
    seq BIGINT PRIMARY KEY,
    at BIGINT NOT NULL,
    done_by TEXT NOT NULL,
    older_than BIGINT NOT NULL,
    deleted BIGINT NOT NULL,
    remaining BIGINT NOT NULL,
    -- Of all gaps, as they were then.
    gaps_hash BYTEA NOT NULL
);

CREATE TABLE remembered (
    id BIGINT PRIMARY KEY,
    command_hash BYTEA NOT NULL,
    command TEXT NOT NULL,
    cwd TEXT,
    session_id TEXT,
    agent TEXT,
    created_at BIGINT NOT NULL,
    created_by TEXT NOT NULL,
    created_seq BIGINT NOT NULL,
    revoked_at BIGINT,
    revoked_by TEXT,
    revoked_seq BIGINT
);

CREATE INDEX remembered_command ON remembered (command_hash) WHERE revoked_at IS NULL;

-- Running counts: of all time (unit 0), of a day (1), of an hour (2). No response is 0, no agent ''.
CREATE TABLE tallies (
    unit BIGINT NOT NULL,
    start BIGINT NOT NULL,
    class BIGINT NOT NULL,
    requires BIGINT NOT NULL,
    response BIGINT NOT NULL,
    agent TEXT NOT NULL,
    n BIGINT NOT NULL,
    timed_out BIGINT NOT NULL,
    -- The sum, in billionths: a sum of fractions would depend on their order.
    confidence BIGINT NOT NULL,
    high BIGINT NOT NULL,
    low BIGINT NOT NULL,
    PRIMARY KEY (unit, start, class, requires, response, agent)
);

-- How many answers took how many milliseconds, by the same units.
CREATE TABLE times (
    unit BIGINT NOT NULL,
    start BIGINT NOT NULL,
    ms BIGINT NOT NULL,
    n BIGINT NOT NULL,
    PRIMARY KEY (unit, start, ms)
);
