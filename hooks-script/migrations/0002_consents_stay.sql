-- Nor is an entry taken away, or another put in its place.
CREATE TRIGGER consent_changes_are_kept BEFORE DELETE ON consent_changes
BEGIN
    SELECT RAISE(ABORT, 'a consent is changed by a new entry');
END;

CREATE TRIGGER consent_changes_are_new BEFORE INSERT ON consent_changes
WHEN EXISTS (SELECT 1 FROM consent_changes WHERE id = NEW.id)
BEGIN
    SELECT RAISE(ABORT, 'a consent is changed by a new entry');
END;

-- The order of the entries is that of their numbers. An entry has its own only when it is there.
CREATE TRIGGER consent_changes_count_from_1 AFTER INSERT ON consent_changes
WHEN NEW.id < 1
BEGIN
    SELECT RAISE(ABORT, 'a consent is changed by a new entry');
END;
