-- What an approval is bound to beside the command, in JSON, and the hash of it. Approvals from before
-- have none, and serve no more.
ALTER TABLE decisions ADD COLUMN scope TEXT;
ALTER TABLE decisions ADD COLUMN scope_hash TEXT;
ALTER TABLE remembered ADD COLUMN scope TEXT;
ALTER TABLE remembered ADD COLUMN scope_hash TEXT;
