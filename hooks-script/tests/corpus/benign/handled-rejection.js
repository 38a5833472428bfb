// in: {"text":"hello world"}
// out: {"caught":"no"}
export default async () => {
  try {
    await Promise.reject(new Error('no'));
  } catch (error) {
    return { out: { caught: error.message } };
  }
};
