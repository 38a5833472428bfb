// expects: error thrown throw
export default function (context) {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  throw proxy;
}
