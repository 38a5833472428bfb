// Stand-in for the model server of every client. It speaks five wire formats and requests the tool
// calls of a script, one after another; then it ends the turn. A list in a script is a set of calls that
// one response requests together.

import { createServer } from 'node:http';

const DONE = 'All done.';
const MODEL = 'stand-in';

/** Anthropic's `/v1/messages`: Claude Code. */
const messages = {
  path: /\/v1\/messages$/,
  offered: (body) => (body.tools ?? []).map((tool) => tool.name),
  results: (body) =>
    (body.messages ?? [])
      .flatMap((message) => (Array.isArray(message.content) ? message.content : []))
      .filter((block) => block.type === 'tool_result')
      .map((block) => ({ id: block.tool_use_id, content: block.content })),
  prompts: (body) => promptsOf(body.messages),
  reply(body, calls, id) {
    const uses = calls.map((call, index) => ({
      type: 'tool_use',
      id: idOf(id, index),
      name: call.tool,
      input: call.arguments,
    }));
    const content = uses.length > 0 ? uses : [{ type: 'text', text: DONE }];
    const stop = { stop_reason: uses.length > 0 ? 'tool_use' : 'end_turn', stop_sequence: null };
    const message = {
      id: `msg_${id}`,
      type: 'message',
      role: 'assistant',
      model: body.model,
      content,
      ...stop,
      usage: { input_tokens: 1, output_tokens: 1 },
    };
    if (!body.stream) return { json: message };
    const blocks = content.flatMap((block, index) => {
      const delta = block.input
        ? { type: 'input_json_delta', partial_json: JSON.stringify(block.input) }
        : { type: 'text_delta', text: DONE };
      const empty = block.input ? { ...block, input: {} } : { ...block, text: '' };
      return [
        { type: 'content_block_start', index, content_block: empty },
        { type: 'content_block_delta', index, delta },
        { type: 'content_block_stop', index },
      ];
    });
    return {
      events: [
        { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
        ...blocks,
        { type: 'message_delta', delta: stop, usage: { output_tokens: 1 } },
        { type: 'message_stop' },
      ],
    };
  },
};

/** Returns the first item of each id. */
const firstOfEach = (items, key) => items.filter((item, i) => items.findIndex((one) => key(one) === key(item)) === i);

/**
 * OpenAI's `/v1/responses`: Codex. Its patch tool takes plain text instead of JSON, and so does `exec`, which runs
 * JavaScript: for some models it is the only tool that reaches a shell.
 */
const responses = {
  path: /\/v1\/responses$/,
  // Tools of MCP servers are in namespaces. Some models get all of their tools in an item of the input.
  offered: (body) =>
    [body, ...listOf(body.input).filter((item) => item.type === 'additional_tools')]
      .flatMap((place) => place.tools ?? [])
      .flatMap((tool) => (tool.tools ?? [tool]).map((inner) => inner.name ?? inner.type)),
  // A script can give a call more than one output.
  results: (body) =>
    firstOfEach(listOf(body.input).filter((item) => item.type?.endsWith('_call_output')), (item) => item.call_id)
      .map((item) => ({ id: item.call_id, content: item.output })),
  // A sub-agent gets its task from the agent that started it.
  prompts: (body) => [
    ...promptsOf(body.input),
    ...listOf(body.input).filter((item) => item.type === 'agent_message').flatMap((item) => item.content)
      .map((part) => part.text ?? part.encrypted_content),
  ],
  reply(body, calls, id) {
    const status = 'completed';
    const content = [{ type: 'output_text', text: DONE, annotations: [] }];
    const done = { type: 'message', id: `item_${id}`, role: 'assistant', status, content };
    const items = calls.map((call, index) => {
      const call_id = idOf(id, index);
      const common = { id: `item_${call_id}`, call_id, name: call.tool, status };
      if (call.text !== undefined) return { type: 'custom_tool_call', ...common, input: call.text };
      const { namespace } = call;
      return { type: 'function_call', ...common, namespace, arguments: JSON.stringify(call.arguments) };
    });
    const output = items.length > 0 ? items : [done];
    const response = { id: `resp_${id}`, object: 'response', model: body.model, output: [] };
    const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
    return {
      events: [
        { type: 'response.created', response: { ...response, status: 'in_progress' } },
        ...output.flatMap((item, output_index) => [
          { type: 'response.output_item.added', output_index, item },
          { type: 'response.output_item.done', output_index, item },
        ]),
        { type: 'response.completed', response: { ...response, status, output, usage } },
      ],
    };
  },
};

/** OpenAI's `/v1/chat/completions`: Copilot CLI, opencode, Qwen Code, Factory Droid, Grok CLI, Cline, Pi,
 * Kimi Code, Kilo Code, Goose, Letta Code, Mistral Vibe and OpenHands. */
const chat = {
  path: /\/v1\/chat\/completions$/,
  offered: (body) => (body.tools ?? []).map((tool) => tool.function?.name),
  results: (body) =>
    (body.messages ?? [])
      .filter((message) => message.role === 'tool')
      .map((message) => ({ id: message.tool_call_id, content: message.content })),
  prompts: (body) => promptsOf(body.messages),
  reply(body, calls, id) {
    const object = body.stream ? 'chat.completion.chunk' : 'chat.completion';
    const common = { id: `chat_${id}`, object, created: 1, model: body.model };
    const some = calls.length > 0;
    const finish_reason = some ? 'tool_calls' : 'stop';
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    const message = { role: 'assistant', content: some ? null : DONE };
    if (some) {
      message.tool_calls = calls.map((call, index) => {
        const named = { name: call.tool, arguments: JSON.stringify(call.arguments) };
        return { index, id: idOf(id, index), type: 'function', function: named };
      });
    }
    if (!body.stream) return { json: { ...common, choices: [{ index: 0, message, finish_reason }], usage } };
    const chunk = (delta, reason) => ({ ...common, choices: [{ index: 0, delta, finish_reason: reason }] });
    return {
      events: [chunk(message, null), chunk({}, finish_reason), { ...common, choices: [], usage }, '[DONE]'],
    };
  },
};

/** Google's `generateContent`: Gemini CLI. It also requests JSON in its own forms. */
const generate = {
  path: /:(stream)?generateContent$/i,
  offered: (body) =>
    (body.tools ?? []).flatMap((tool) => tool.functionDeclarations ?? []).map((declared) => declared.name),
  // A resumed session of Gemini CLI has each response twice.
  results: (body) =>
    firstOfEach(
      listOf(body.contents).flatMap((content) => content.parts ?? []).filter((part) => part.functionResponse),
      (part) => part.functionResponse.id,
    ).map((part) => ({ id: part.functionResponse.id, content: part.functionResponse.response })),
  prompts: (body) => promptsOf(body.contents),
  reply(body, calls, _id, url) {
    const schema = body.generationConfig?.responseJsonSchema ?? body.generationConfig?.responseSchema;
    const text = schema ? JSON.stringify(example(schema)) : DONE;
    const requests = calls.map((call) => ({ functionCall: { name: call.tool, args: call.arguments } }));
    const parts = requests.length > 0 ? requests : [{ text }];
    const reply = {
      candidates: [{ index: 0, content: { role: 'model', parts }, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
      modelVersion: MODEL,
    };
    return /stream/.test(url) ? { events: [reply] } : { json: reply };
  },
};

/** Augment's `/chat-stream`: Auggie, whose service this stands in for. One line of the response is one part of it. */
const augment = {
  path: /\/chat-stream$/,
  offered: (body) => (body.tool_definitions ?? []).map((tool) => tool.name),
  results: (body) =>
    firstOfEach(
      [...listOf(body.chat_history).flatMap((exchange) => exchange.request_nodes ?? []), ...listOf(body.nodes)]
        .map((node) => node.tool_result_node)
        .filter(Boolean),
      (result) => result.tool_use_id,
    ).map((result) => ({ id: result.tool_use_id, content: result.content })),
  prompts: (body) => [
    body.message ?? '',
    ...listOf(body.chat_history).map((exchange) => exchange.request_message ?? ''),
    ...[...listOf(body.chat_history).flatMap((exchange) => exchange.request_nodes ?? []), ...listOf(body.nodes)]
      .map((node) => node.text_node?.content ?? ''),
  ],
  reply(_body, calls, id) {
    const uses = calls.map((call, index) => ({
      id: index + 1,
      type: 5,
      content: '',
      tool_use: { tool_use_id: idOf(id, index), tool_name: call.tool, input_json: JSON.stringify(call.arguments) },
    }));
    const [ENDED, USES_TOOLS] = [1, 3];
    return { lines: [{ text: uses.length > 0 ? '' : DONE, nodes: uses, stop_reason: uses.length > 0 ? USES_TOOLS : ENDED }] };
  },
};

const FORMATS = [messages, responses, chat, generate, augment];

/** What Auggie asks its service for at its start, by path. */
const AUGMENT_START = {
  '/get-models': {
    default_model: MODEL,
    models: [{ name: MODEL, suggested_prefix_char_count: 1_000, suggested_suffix_char_count: 1_000 }],
    feature_flags: {
      // Without it, Auggie calls no hook.
      enable_hooks: true,
      // Sub-agents, `!` and plugins.
      beachhead_enable_sub_agent_tool: true,
      cli_enable_bash_mode: true,
      enable_plugin_marketplace: true,
      // Prompts without which there is no `execute-tool`.
      tool_search_summary_prompt: 'x',
      tool_search_find_tool_prompt: 'x',
    },
    languages: [],
  },
  '/agents/list-remote-tools': { tools: [] },
};

/** Returns a value that should be a list, or an empty list. */
function listOf(value) {
  return Array.isArray(value) ? value : [];
}

/**
 * Returns the id of a call: the first one of a response has the id of the response, the others have the next numbers.
 * An id with the id of another call as its beginning confuses Claude Code.
 */
function idOf(id, index) {
  return id.replace(/\d+$/, (digits) => String(Number(digits) + index).padStart(digits.length, '0'));
}

/** Returns the texts of the user's messages, without the results of tools. */
function promptsOf(messages) {
  const texts = (content) => (Array.isArray(content) ? content.map((part) => part.text ?? '') : [content]);
  const own = listOf(messages).filter((message) => message.role === 'user');
  return own.flatMap((message) => texts(message.content ?? message.parts));
}

/** Returns a value that fits a JSON schema. */
function example(schema) {
  if (schema.enum) return schema.enum[0];
  switch (schema.type?.toLowerCase()) {
    case 'object':
      return Object.fromEntries(Object.entries(schema.properties ?? {}).map(([name, of]) => [name, example(of)]));
    case 'array':
      return [];
    case 'integer':
    case 'number':
      return 1;
    case 'boolean':
      return false;
    default:
      return 'x';
  }
}

/** Returns the text in a tool's result, independent of its nesting by a client. */
function textOf(result) {
  if (typeof result === 'string') return result;
  if (Array.isArray(result)) return result.map(textOf).join('\n');
  return typeof result?.text === 'string' ? result.text : JSON.stringify(result);
}

/** Replaces `SESSION` by the number of the terminal that Codex opened last. */
function inSession(call, told) {
  const session = told.join('\n').match(/session ID (\d+)/gi)?.at(-1)?.match(/\d+/)[0];
  return session ? JSON.parse(JSON.stringify(call).replace('"SESSION"', session)) : call;
}

/** Returns results in the order of their calls: a client may return those of parallel calls in another order. */
function inOrder(results) {
  const ours = results.every(({ id }) => /^call_\d+$/.test(id));
  return ours ? results.toSorted((one, other) => (one.id < other.id ? -1 : 1)) : results;
}

/** Returns the record of one conversation with its script. */
function conversationOf(script) {
  return { steps: script.map((step) => [step].flat()), requested: [], told: [], times: [] };
}

/** Returns the calls that follow after a number of results. */
function after(steps, results) {
  let before = 0;
  for (const calls of steps) {
    if (before >= results) return { calls, before };
    before += calls.length;
  }
  return { calls: [], before };
}

/**
 * Serves the script on a port of the loopback interface.
 *
 * `others` are scripts of further conversations, such as that of a sub-agent: each one has the `prompt`, a text in
 * a message of the user by which the conversation is recognised. Each answer waits for `before`.
 *
 * Returns the record: `requested` holds the calls that the client received, `told` the text of each
 * result that the client returned, `times` when it returned the first, second, … result, `conversation` its last
 * request, `offered` the names of the tools, `unknown` the requests that no format covers, `others` the record of
 * each further conversation. A step is chosen by the number of results in the request, so that a
 * request without tools (a title, a summary) does not consume a step.
 */
export async function serveModel(port, script, others = [], before) {
  const main = conversationOf(script);
  const further = others.map((other) => ({ ...conversationOf(other.script), prompt: other.prompt }));
  const { requested, told, times } = main;
  const record = { requested, told, times, conversation: '', offered: [], unknown: [], others: further };
  let number = 1;

  function answer(url, body) {
    const path = url.split('?')[0];
    const format = FORMATS.find((format) => format.path.test(path));
    if (!format) {
      if (/count_?tokens/i.test(path)) return { json: { input_tokens: 1, totalTokens: 1 } };
      if (AUGMENT_START[path]) return { json: AUGMENT_START[path] };
      if (/\/models$/.test(path)) return { json: { object: 'list', data: [{ id: MODEL, object: 'model' }] } };
      record.unknown.push(path);
      return { status: 404, json: { error: { message: 'not part of the stand-in' } } };
    }
    const offered = format.offered(body);
    const told = inOrder(format.results(body)).map(({ content }) => textOf(content));
    const prompts = format.prompts(body);
    const known = further.find(({ prompt }) => prompts.some((text) => text.includes(prompt))) ?? main;
    if (told.length >= known.told.length) known.told.splice(0, Infinity, ...told);
    known.times[told.length] ??= Date.now();
    if (offered.length > 0) record.conversation = JSON.stringify(body.messages ?? body.input ?? body.contents);
    for (const name of offered) if (!record.offered.includes(name)) record.offered.push(name);
    const { calls, before } = after(known.steps, told.length);
    const usable = (call) => offered.length > 0 && (call.unlisted || offered.includes(call.tool));
    const chosen = calls.filter(usable).map((call) => inSession(call, told));
    for (const [index, call] of chosen.entries()) known.requested[before + index] = call;
    const id = `call_${String(number).padStart(6, '0')}`;
    number += Math.max(chosen.length, 1);
    return format.reply(body, chosen, id, url);
  }

  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    await before?.();
    const { status = 200, json, lines, events } = answer(request.url, parsed(Buffer.concat(chunks)));
    if (json) {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(json));
      return;
    }
    if (lines) {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
      return;
    }
    response.writeHead(status, { 'content-type': 'text/event-stream' });
    for (const event of events) {
      if (event.type) response.write(`event: ${event.type}\n`);
      response.write(`data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`);
    }
    response.end();
  });
  await new Promise((resolve) => server.listen(port, '127.0.0.1', resolve));
  return record;
}

function parsed(bytes) {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return {};
  }
}
