import { errorName } from "@millrace/errors";
import type { Tracer } from "@millrace/platform";
import type { Sdk } from "./load-sdk.ts";

type SdkTracer = ReturnType<InstanceType<Sdk["tracing"]["BasicTracerProvider"]>["getTracer"]>;

/** One span of OpenTelemetry per request, from its admission to its answer. */
export function spanTracer({ api }: Sdk, tracer: SdkTracer): Tracer {
  return {
    begin(name, facts) {
      const span = tracer.startSpan(name, { kind: api.SpanKind.SERVER, attributes: facts });
      return {
        end(status) {
          if (status !== 0) {
            span.setAttribute("millrace.code", status);
            span.setStatus({ code: api.SpanStatusCode.ERROR, message: errorName(status) ?? "" });
          }
          span.end();
        },
      };
    },
  };
}
