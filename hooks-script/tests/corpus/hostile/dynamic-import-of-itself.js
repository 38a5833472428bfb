// expects: error thrown TypeError
export default async () => ({ out: await import('hook.js') });
