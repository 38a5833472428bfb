#!/usr/bin/env node
// An MCP server for the checks, on standard input and output. Its tool `create_note` appends a text to
// ~/notes.txt.

import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

import { HOME } from './clients.mjs';

const TOOL = {
  name: 'create_note',
  description: 'Creates a note.',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
};

const METHODS = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'notes', version: '1' },
  }),
  ping: () => ({}),
  'tools/list': () => ({ tools: [TOOL] }),
  'tools/call': ({ arguments: { text } }) => {
    appendFileSync(join(HOME, 'notes.txt'), `${text}\n`);
    return { content: [{ type: 'text', text: 'The note is created.' }] };
  },
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params = {} } = JSON.parse(line);
  if (id === undefined) return;
  const known = METHODS[method];
  const reply = known ? { result: known(params) } : { error: { code: -32601, message: 'unknown method' } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...reply })}\n`);
});
