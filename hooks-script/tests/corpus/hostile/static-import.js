// expects: rejected_at_registration import
import fs from 'fs';
export default () => ({ out: { fs } });
