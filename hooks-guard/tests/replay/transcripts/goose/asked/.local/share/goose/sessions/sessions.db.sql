CREATE TABLE sessions (id, working_dir, session_type, goose_mode);
INSERT INTO sessions VALUES ('20261201_1', '/srv/dev/project', 'user', 'approve');
CREATE TABLE messages (id, session_id, role, content_json, created_timestamp);
INSERT INTO messages VALUES (1, '20261201_1', 'user', '[{"type":"text","text":"do it"}]', 1796102888);
INSERT INTO messages VALUES (2, '20261201_1', 'user', '[{"type":"text","text":"<turn-context>\n<current-time>2026-12-01 05:28:00 +00:00</current-time>\n<working-directory>/srv/dev/project</working-directory>\n</turn-context>"}]', 1796102888);
INSERT INTO messages VALUES (3, '20261201_1', 'assistant', '[{"type":"toolRequest","id":"call_000002","toolCall":{"status":"success","value":{"name":"shell","arguments":{"command":"git status --short"}}},"_meta":{"goose.toolCall.providerIndex":0,"goose_extension":"developer"}}]', 1796102888);
INSERT INTO messages VALUES (4, '20261201_1', 'user', '[{"type":"toolResponse","id":"call_000002","toolResult":{"status":"success","value":{"resultType":"complete","content":[{"type":"text","text":" M a.txt\n?? build/","annotations":{"priority":0.0}}],"structuredContent":{"stdout":" M a.txt\n?? build/","stderr":"","exit_code":0},"isError":false}}}]', 1796102888);
INSERT INTO messages VALUES (5, '20261201_1', 'user', '[{"type":"toolResponse","id":"call_000003","toolResult":{"status":"error","error":"-32600: Tool call cancelled by user"}}]', 1796102893);
