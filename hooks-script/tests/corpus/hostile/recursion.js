// expects: interrupted stack
export default function (context) {
  const down = () => down() + 1;
  down();
}
