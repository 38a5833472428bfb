// in: {"text":"hello world"}
// out: {"stage":"pre"}
export default ({ stage }) => ({ out: { stage } });
