-- The parts of the command: a list of [start, end, class, decided] in JSON, in characters.
ALTER TABLE decisions ADD COLUMN parts TEXT;
