// Stand-in for the model server of every client. It speaks four wire formats and requests the tool
// calls of a script, one after another; then it ends the turn.

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
      .map((block) => block.content),
  reply(body, call, id) {
    const block = call
      ? { type: 'tool_use', id, name: call.tool, input: call.arguments }
      : { type: 'text', text: DONE };
    const stop = { stop_reason: call ? 'tool_use' : 'end_turn', stop_sequence: null };
    const message = {
      id: `msg_${id}`,
      type: 'message',
      role: 'assistant',
      model: body.model,
      content: [block],
      ...stop,
      usage: { input_tokens: 1, output_tokens: 1 },
    };
    if (!body.stream) return { json: message };
    const delta = call
      ? { type: 'input_json_delta', partial_json: JSON.stringify(call.arguments) }
      : { type: 'text_delta', text: DONE };
    const empty = call ? { ...block, input: {} } : { ...block, text: '' };
    return {
      events: [
        { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
        { type: 'content_block_start', index: 0, content_block: empty },
        { type: 'content_block_delta', index: 0, delta },
        { type: 'content_block_stop', index: 0 },
        { type: 'message_delta', delta: stop, usage: { output_tokens: 1 } },
        { type: 'message_stop' },
      ],
    };
  },
};

/** OpenAI's `/v1/responses`: Codex. Its patch tool takes plain text instead of JSON. */
const responses = {
  path: /\/v1\/responses$/,
  // Tools of MCP servers are in namespaces.
  offered: (body) =>
    (body.tools ?? []).flatMap((tool) => (tool.tools ?? [tool]).map((inner) => inner.name ?? inner.type)),
  results: (body) =>
    (Array.isArray(body.input) ? body.input : [])
      .filter((item) => item.type?.endsWith('_call_output'))
      .map((item) => item.output),
  reply(body, call, id) {
    const status = 'completed';
    const common = { id: `item_${id}`, call_id: id, name: call?.tool, status };
    let item;
    if (!call) {
      const content = [{ type: 'output_text', text: DONE, annotations: [] }];
      item = { type: 'message', id: `item_${id}`, role: 'assistant', status, content };
    } else if (call.text !== undefined) {
      item = { type: 'custom_tool_call', ...common, input: call.text };
    } else {
      const { namespace } = call;
      item = { type: 'function_call', ...common, namespace, arguments: JSON.stringify(call.arguments) };
    }
    const response = { id: `resp_${id}`, object: 'response', model: body.model, output: [] };
    const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
    const output_index = 0;
    return {
      events: [
        { type: 'response.created', response: { ...response, status: 'in_progress' } },
        { type: 'response.output_item.added', output_index, item },
        { type: 'response.output_item.done', output_index, item },
        { type: 'response.completed', response: { ...response, status, output: [item], usage } },
      ],
    };
  },
};

/** OpenAI's `/v1/chat/completions`: Copilot CLI, opencode, Qwen Code, Factory Droid, Grok CLI, Cline, Pi
 * and Kimi Code. */
const chat = {
  path: /\/v1\/chat\/completions$/,
  offered: (body) => (body.tools ?? []).map((tool) => tool.function?.name),
  results: (body) =>
    (body.messages ?? [])
      .filter((message) => message.role === 'tool')
      .map((message) => message.content),
  reply(body, call, id) {
    const object = body.stream ? 'chat.completion.chunk' : 'chat.completion';
    const common = { id: `chat_${id}`, object, created: 1, model: body.model };
    const finish_reason = call ? 'tool_calls' : 'stop';
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    const message = { role: 'assistant', content: call ? null : DONE };
    if (call) {
      const named = { name: call.tool, arguments: JSON.stringify(call.arguments) };
      message.tool_calls = [{ index: 0, id, type: 'function', function: named }];
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
  results: (body) =>
    (body.contents ?? [])
      .flatMap((content) => content.parts ?? [])
      .filter((part) => part.functionResponse)
      .map((part) => part.functionResponse.response),
  reply(body, call, _id, url) {
    const schema = body.generationConfig?.responseJsonSchema ?? body.generationConfig?.responseSchema;
    let part = { text: schema ? JSON.stringify(example(schema)) : DONE };
    if (call) part = { functionCall: { name: call.tool, args: call.arguments } };
    const reply = {
      candidates: [{ index: 0, content: { role: 'model', parts: [part] }, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
      modelVersion: MODEL,
    };
    return /stream/.test(url) ? { events: [reply] } : { json: reply };
  },
};

const FORMATS = [messages, responses, chat, generate];

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

/**
 * Serves the script on a port of the loopback interface.
 *
 * Returns the record: `requested` holds the calls that the client received, `told` the text of each
 * result that the client returned, `conversation` its last request, `offered` the names of the tools,
 * `unknown` the requests that no format covers. A step is chosen by the number of results in the request, so that a
 * request without tools (a title, a summary) does not consume a step.
 */
export async function serveModel(port, script) {
  const record = { requested: [], told: [], conversation: '', offered: [], unknown: [] };
  let number = 0;

  function answer(url, body) {
    const path = url.split('?')[0];
    const format = FORMATS.find((format) => format.path.test(path));
    if (!format) {
      if (/count_?tokens/i.test(path)) return { json: { input_tokens: 1, totalTokens: 1 } };
      if (/\/models$/.test(path)) return { json: { object: 'list', data: [{ id: MODEL, object: 'model' }] } };
      record.unknown.push(path);
      return { status: 404, json: { error: { message: 'not part of the stand-in' } } };
    }
    const offered = format.offered(body);
    const told = format.results(body).map(textOf);
    if (told.length >= record.told.length) record.told = told;
    if (offered.length > 0) record.conversation = JSON.stringify(body.messages ?? body.input ?? body.contents);
    for (const name of offered) if (!record.offered.includes(name)) record.offered.push(name);
    let call = offered.length > 0 ? script[told.length] : undefined;
    if (call && !call.unlisted && !offered.includes(call.tool)) call = undefined;
    if (call) {
      call = inSession(call, told);
      record.requested[told.length] = call;
    }
    number += 1;
    return format.reply(body, call, `call_${String(number).padStart(6, '0')}`, url);
  }

  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const { status = 200, json, events } = answer(request.url, parsed(Buffer.concat(chunks)));
    if (json) {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(json));
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
