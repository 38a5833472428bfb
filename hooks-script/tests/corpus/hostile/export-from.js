// expects: rejected_at_registration import
export { default } from './other.js';
