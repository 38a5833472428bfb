// expects: error thrown TypeError
export default () => ({ out: { a: JSON.rawJSON('1e400') } });
