// expects: error thrown HookStopException
export default function (context) {
  throw new Proxy(new HookStopException('wrapped'), {});
}
