(question) =>
  new Promise((resolve) => {
    const refuse = (why) => resolve("@REFUSAL@");
    let child;
    try {
      child = spawn(BINARY, ARGUMENTS, { stdio: ["pipe", "pipe", "pipe"] });
    } catch (error) {
      return refuse(`${BINARY} cannot be run (${error.message})`);
    }
    const timer = setTimeout(() => {
      refuse("no answer in time");
      child.kill("SIGKILL");
    }, LIMIT);
    let printed = "";
    let said = "";
    child.stdout.on("data", (data) => (printed += data));
    child.stderr.on("data", (data) => (said += data));
    child.stdin.on("error", () => {});
    child.on("error", (error) => {
      clearTimeout(timer);
      refuse(`${BINARY} cannot be run (${error.message})`);
    });
    child.on("close", (status) => {
      clearTimeout(timer);
      if (status !== 0) return refuse(said.trim() || `it ended with status ${status}`);
      try {
        const answer = JSON.parse(printed);
        if (typeof answer !== "object" || answer === null || Array.isArray(answer)) throw new Error("no object");
        resolve(answer);
      } catch {
        refuse("its answer cannot be read");
      }
    });
    child.stdin.end(JSON.stringify(question));
  })
