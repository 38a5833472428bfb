-- What the approved version asked to be told. None of what was approved before this was noted, which
-- is of no version that there is: it is asked for again.
ALTER TABLE consent_changes ADD COLUMN context TEXT;
