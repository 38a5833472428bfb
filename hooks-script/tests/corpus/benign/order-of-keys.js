// in: {"b":1,"a":2,"10":3,"9":4}
// out: {"9":4,"10":3,"b":1,"a":2}
export default ({ in: message }) => ({ out: message });
