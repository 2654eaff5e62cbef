import type { MetricsPage } from "../http-options.ts";
import { schema } from "../openapi/schemas.table.ts";
import { RawAnswer, type Route } from "./route.ts";

/** Logout: ends the server-side session; the token itself stays good until it expires. */
export const logoutRoute: Route = {
  method: "DELETE",
  url: "/users/logout",
  tag: "login",
  summary: "Ends the session behind the token",
  status: 204,
  async handle({ session }) {
    await session.logout();
    return undefined;
  },
};

/** Prometheus metrics, for any user. */
export function metricsRoute(page: MetricsPage): Route {
  return {
    method: "GET",
    url: page.path,
    tag: "system",
    summary: "Metrics in the text form of Prometheus",
    status: 200,
    answerType: "text/plain",
    answer: schema.text,
    async handle() {
      return new RawAnswer(page.contentType, await page.text());
    },
  };
}
