// in: {"text":"hello world"}
// out: {"id":"7","keys":["user"]}
// data: {"user":{"id":"7"}}
export default ({ data }) => ({ out: { id: data.user.id, keys: Object.keys(data) } });
