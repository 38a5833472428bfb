// The expectations of checks, and tests of an outcome.

export const READ = 'git status --short';
// Codex refuses `rm -rf` itself.
export const DELETE = 'rm -r build';

// Kinds of expectations. `test` returns the reason why an outcome is wrong, or an empty text.

/** An outcome that the guard permits. */
export const does = (says, test) => ({ says, test });
/** An outcome that only the guard causes: without the guard, `test` must fail. */
export const prevents = (says, test) => ({ says, test, prevents: true });
/** An expectation about the result that the model receives: Cline ends the run instead. */
export const unlessItEnds = (expectation) => ({ ...expectation, except: ['cline'] });
/** An outcome of the client's own rules, which the guard cannot change. */
export const open = (says, test) => ({ says, test, open: true });

// Tests of an outcome `o`.

/** Fails unless the client received the last call of the script and the call ended; also fails if the lab had to kill the client. */
export function reached(o) {
  const last = o.script.length - 1;
  if (last < 0) return o.calls.length > 0 || o.model.conversation ? '' : 'the client did nothing';
  if (!o.model.requested[last]) return `the client never received call ${last + 1} of ${o.script.length}`;
  const returned = o.model.told.length > last;
  if (!returned && o.status === 'SIGKILL') return 'the client hung until it was killed, and returned no result';
  const ended = o.endsAtDenial && o.status === 0;
  return returned || ended || o.calls.length > 0 ? '' : 'the client neither called the hook nor returned a result';
}

export const all = (...tests) => (o) => tests.map((test) => test(o)).find(Boolean) ?? '';
export const buildStays = (o) => reached(o) || (o.buildStays ? '' : '`build` is gone');
export const buildGone = (o) => reached(o) || (o.buildStays ? '`build` stays' : '');
export const noFile = (o) => reached(o) || (o.written ? '`new.txt` is written' : '');
export const homeStays = (o) => reached(o) || (o.bashrc.includes('evil') ? '`~/.bashrc` is overwritten' : '');
export const asked = (command) => (o) => (o.answers.includes(command) ? '' : 'the operator was not asked');
export const trail = (pattern) => (o) => (pattern.test(o.trail) ? '' : `the trail is:\n${o.trail}`);
export const doctorSays = (pattern) => (o) => (pattern.test(o.doctor) ? '' : `doctor says: ${o.doctor}`);
export const installs = (o) => o.notes.find((note) => note.startsWith('install:')) ?? '';
export const quickerThan = (seconds) => (o) =>
  o.elapsed < seconds * 1_000 ? '' : `it took ${Math.round(o.elapsed / 1_000)} s`;
/** Fails unless the model received the pattern as the result of a step. */
export const told = (step, pattern) => (o) =>
  pattern.test(o.model.told[step] ?? '') ? '' : `the model received: ${o.model.told[step]?.slice(0, 400)}`;
/** Fails unless the model received the pattern anywhere. */
export const conversation = (pattern) => (o) =>
  reached(o) || (pattern.test(o.model.conversation) ? '' : `the model did not receive ${pattern}`);

export const NO_APPROVAL = /approv[^]*hooks-guard serve/i;
export const NO_POSITIONS = /^(?![^]*\(characters \d)[^]*(CREATE|UPDATE)/;
export const DOCTOR_OK = all(doctorSays(/ok +codex/), doctorSays(/^(?![^]*trusted)/));
