-- The command that ran if it is not the decided one. Null if the decided command ran.
ALTER TABLE decisions ADD COLUMN ran_command TEXT;
-- `doctor` counts them.
CREATE INDEX decisions_ran_command ON decisions (at) WHERE ran_command IS NOT NULL;
