// in: {"text":"hello world"}
// out: {"when":"1970-01-01T00:00:00.000Z"}
export default () => ({ out: { when: new Date(0) } });
