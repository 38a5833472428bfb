-- What ended an approval or a remembered answer: a row that says otherwise is not believed.
CREATE INDEX log_ended ON log (subject, kind) WHERE kind IN (3, 5, 7);
