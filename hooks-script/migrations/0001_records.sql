-- Times are microseconds since 1970.

CREATE TABLE consent_changes (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    time_us INTEGER NOT NULL,
    decided_by TEXT NOT NULL,
    decision TEXT NOT NULL CHECK (decision IN ('approve', 'deny', 'revoke')),
    hook TEXT NOT NULL,
    code_hash TEXT,
    capability TEXT NOT NULL,
    user_id TEXT,
    guild_id TEXT,
    channel_id TEXT
) STRICT;

CREATE INDEX consent_changes_about ON consent_changes (hook, capability, user_id);
CREATE INDEX consent_changes_of_user ON consent_changes (user_id);

-- The history only grows.
CREATE TRIGGER consent_changes_stay BEFORE UPDATE ON consent_changes
BEGIN
    SELECT RAISE(ABORT, 'a consent is changed by a new entry');
END;

CREATE TABLE runs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    time_us INTEGER NOT NULL,
    source TEXT NOT NULL,
    version TEXT NOT NULL,
    name TEXT NOT NULL,
    action TEXT NOT NULL,
    user_id TEXT,
    guild_id TEXT,
    channel_id TEXT,
    stage TEXT NOT NULL CHECK (stage IN ('pre', 'post')),
    outcome TEXT NOT NULL CHECK (outcome IN ('success', 'stopped', 'failure', 'skipped')),
    kind TEXT,
    class TEXT,
    message TEXT,
    trace TEXT,
    duration_us INTEGER NOT NULL,
    fuel INTEGER NOT NULL,
    memory_bytes INTEGER NOT NULL
) STRICT;

CREATE INDEX runs_of_hook ON runs (source, id);
CREATE INDEX runs_by_time ON runs (time_us);

CREATE TABLE source_versions (
    source TEXT NOT NULL,
    hash TEXT NOT NULL,
    -- In which order they were last seen.
    seen INTEGER NOT NULL,
    first_seen_us INTEGER NOT NULL,
    last_seen_us INTEGER NOT NULL,
    -- None of what the server does not let anyone keep.
    text TEXT,
    url TEXT,
    etag TEXT,
    last_modified TEXT,
    fresh_until_us INTEGER NOT NULL,
    stale_allowed INTEGER NOT NULL,
    PRIMARY KEY (source, hash)
) STRICT;
