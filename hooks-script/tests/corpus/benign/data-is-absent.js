// in: {"text":"hello world"}
// out: {"user":false,"keys":[]}
export default ({ data }) => ({ out: { user: 'user' in data, keys: Object.keys(data) } });
