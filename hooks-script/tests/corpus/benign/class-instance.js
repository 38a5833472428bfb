// in: {"text":"hello world"}
// out: {"x":1}
class Point {
  #hidden = 2;
  x = 1;
  get y() { return this.#hidden; }
}
export default () => ({ out: new Point() });
