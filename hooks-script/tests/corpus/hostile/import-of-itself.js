// expects: rejected_at_registration import
import * as self from 'hook.js';
export default () => ({ out: { self } });
