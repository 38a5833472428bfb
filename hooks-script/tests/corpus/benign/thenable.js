// in: {"text":"hello world"}
// out: {"from":"a thenable"}
export default () => ({ then: (resolve) => resolve({ out: { from: 'a thenable' } }) });
