// expects: rejected_at_registration import
import * as prelude from 'prelude.js';
export default () => ({ out: { prelude } });
