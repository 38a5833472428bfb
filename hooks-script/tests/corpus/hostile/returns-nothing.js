// expects: unchanged
export default function (context) {
  
}
