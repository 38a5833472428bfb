// in: {"text":"hello world"}
// out: {"text":"changed","stage":"post"}
export default (context) => {
  context.stage = 'post';
  context.in.text = 'changed';
  return { out: { text: context.in.text, stage: context.stage } };
};
