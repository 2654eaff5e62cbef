import { startScript } from "./child-process.ts";
import { compare, type Figure, measure } from "./figure.ts";
import { GOALS } from "./goals.ts";
import { HttpLoadConnection, postRequest } from "./http-load.ts";
import { startMillrace } from "./millrace-target.ts";

const PAYLOAD_LENGTH = 256;
/** As HTTP clients keep one request in flight each, it takes some to have requests in flight. */
const CONNECTIONS = 32;
const REQUESTS = 500;
const PATH = "/streams/bench/topics/t/messages";
const TOPIC = {
  name: "t",
  partitions_count: 1,
  compression_algorithm: "none",
  message_expiry: 0,
  max_topic_size: 0,
};

/** Produce of single messages over HTTP against a bare Fastify route for the same body. */
export async function benchHttp(rounds: number): Promise<Figure> {
  const target = await startMillrace({ MILLRACE_HTTP_ENABLED: "true", MILLRACE_HTTP_ADDRESS: "127.0.0.1:0" });
  const limit = await startScript("http-limit-server.ts", {});
  const token = await prepareTopic(target.portOf("http"));
  const body = {
    partitioning: { kind: "partition_id", value: "AAAAAA==" },
    messages: [{ payload: Buffer.alloc(PAYLOAD_LENGTH, 7).toString("base64") }],
  };
  const request = postRequest(PATH, body, token);
  const messages = CONNECTIONS * REQUESTS;
  const run = async (pid: number, port: number) => {
    // Anew each round: servers close connections on which nothing comes while the other one's round lasts.
    const connections = await openAll(port);
    const cost = await measure(pid, messages, messages * request.length, async () => {
      await Promise.all(connections.map((connection) => connection.pump(REQUESTS, request)));
    });
    for (const connection of connections) connection.close();
    return cost;
  };
  const figure = await compare(
    {
      name: `HTTP produce 1 x 256 B, ${CONNECTIONS} clients`,
      limitName: "bare Fastify route",
      goal: GOALS.http,
      rounds,
    },
    () => run(limit.pid, limit.port),
    () => run(target.pid, target.portOf("http")),
  );
  await Promise.all([target.stop(), limit.stop()]);
  return figure;
}

function openAll(port: number): Promise<HttpLoadConnection[]> {
  return Promise.all(Array.from({ length: CONNECTIONS }, () => HttpLoadConnection.open(port)));
}

async function prepareTopic(port: number): Promise<string> {
  const connection = await HttpLoadConnection.open(port);
  const login = await connection.call(postRequest("/users/login", { username: "iggy", password: "iggy" }));
  const token = (JSON.parse(login) as { access_token: { token: string } }).access_token.token;
  await connection.call(postRequest("/streams", { name: "bench" }, token));
  await connection.call(postRequest("/streams/bench/topics", TOPIC, token));
  connection.close();
  return token;
}
