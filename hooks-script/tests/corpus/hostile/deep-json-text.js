// expects: interrupted stack
export default function (context) {
  return { out: { deep: JSON.parse('['.repeat(1e5)) } };
}
