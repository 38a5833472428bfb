// in: {"text":"hello world"}
// out: {"text":"a�b","�":1,"whole":"😀","slash":"\\ud800"}
export default () => ({ out: { text: 'a\ud800b', '\udc00': 1, whole: '\ud83d\ude00', slash: '\\ud800' } });
