// in: {"text":"hello world"}
// out: {"caught":"RangeError"}
const down = () => down() + 1;
export default () => {
  try {
    down();
  } catch (error) {
    return { out: { caught: error.name } };
  }
};
