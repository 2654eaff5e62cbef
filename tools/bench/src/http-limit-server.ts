// The limit of HTTP produce: a bare Fastify route that parses the same body and answers as many bytes.
import fastify from "fastify";

const ANSWER = { confirmations: [{ stream_id: 0, topic_id: 0, partition_id: 0, base_offset: 1_000_000 }] };

const app = fastify({ bodyLimit: 2_000_000 });
app.post("/streams/:stream_id/topics/:topic_id/messages", (request, reply) => {
  const { messages } = request.body as { messages: unknown[] };
  if (messages.length === 0) throw new Error("The body holds a message.");
  reply.code(201).send(ANSWER);
});
await app.listen({ host: "127.0.0.1", port: 0 });
const address = app.server.address();
process.stdout.write(`listening ${typeof address === "object" ? address?.port : ""}\n`);
process.on("SIGTERM", () => process.exit(0));
